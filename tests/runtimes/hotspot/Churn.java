// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
//
// Makes classes, lets their methods be compiled, and forgets them: the memory of
// their code is used again. For tests/runtimes/hotspot/step.c.
//
// usage: java Churn SECONDS

import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.function.IntUnaryOperator;

public class Churn {
	public static class Body implements IntUnaryOperator {
		public int applyAsInt(int x) {
			return x > 0 ? deeper(x - 1, x) + 1 : leaf(x);
		}

		int deeper(int n, int x) {
			double[] a = new double[4];

			a[n & 3] = x;
			return applyAsInt(n) + (int)a[x & 3];
		}

		static int leaf(int x) {
			for (int i = 0; i < 10; i++)
				x = x * 31 + i;
			return x;
		}
	}

	static byte[] bytes() throws Exception {
		try (InputStream in = Churn.class.getResourceAsStream(
				"Churn$Body.class")) {
			return in.readAllBytes();
		}
	}

	static void run(byte[] body, long end) {
		int sum = 0;

		try {
			for (int n = 0; System.nanoTime() < end; n++) {
				IntUnaryOperator op = (IntUnaryOperator)
					MethodHandles.lookup().defineHiddenClass(
						body, true).lookupClass()
					.getDeclaredConstructor().newInstance();

				for (int i = 0; i < 3000; i++)
					sum += op.applyAsInt(8);
				if (n % 40 == 39)
					System.gc();
			}
		} catch (ReflectiveOperationException e) {
			throw new Error(e);
		}
		if (sum == 42)
			System.out.println(sum);
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() +
			(long)(Double.parseDouble(args[0]) * 1e9);
		byte[] body = bytes();
		Thread[] threads = new Thread[2];

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> run(body, end));
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
	}
}
