// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
//
// Draws the trees of the page's data element. No network, no storage.
"use strict";

(function () {
	const CELL = 17;
	const LEAST_WIDTH = 0.7;
	const colours = {
		p: "--python", t: "--tramp", w: "--program", l: "--library",
		s: "--ours", u: "--unknown", g: "--group",
	};
	const style = getComputedStyle(document.documentElement);
	const colour = (name) => style.getPropertyValue(name).trim();
	const data = JSON.parse(document.getElementById("data").textContent);
	const box = document.getElementById("search");
	const charts = [];

	function depth(node) {
		return 1 + Math.max(0, ...(node.c || []).map(depth));
	}

	function share(value, total) {
		return (100 * value / total).toFixed(2) + " %";
	}

	function describe(node, total) {
		return node.data.n + ": " + node.value + " samples, " +
			share(node.value, total);
	}

	// A copy: the renderer marks the nodes it zooms.
	function copy(tree) {
		return JSON.parse(JSON.stringify(tree));
	}

	function draw(chart) {
		const el = chart.element;
		const total = chart.tree.v;

		el.textContent = "";
		chart.graph = SfjitFlame.flamegraph()
			.width(el.clientWidth).height(chart.height)
			.cellHeight(CELL).minFrameSize(LEAST_WIDTH)
			.transitionDuration(0).sort(true).selfValue(false)
			.setColorMapper((d) => colour(d.highlight ? "--found" :
				colours[d.data.k]))
			.setLabelHandler((d) => describe(d, total))
			.setSearchMatch(matches)
			.setSearchHandler((found, sum) => {
				chart.note.textContent = found.length ?
					"found on " + share(sum, total) +
					" of the samples" : "not found";
			})
			.setDetailsElement(chart.hover);
		SfjitFlame.select(el).datum(copy(chart.tree)).call(chart.graph);
	}

	function matches(node, term) {
		return node.data.n.toLowerCase().includes(term.toLowerCase());
	}

	function search() {
		for (const chart of charts) {
			if (box.value) {
				chart.graph.search(box.value);
			} else {
				chart.graph.clear();
				chart.note.textContent = "";
			}
		}
	}

	function reset() {
		box.value = "";
		redraw();
	}

	function redraw() {
		charts.forEach(draw);
		search();
	}

	// The graphs beside each other are as high as the highest one, so that
	// their first frames are on one line.
	function add(pair) {
		const trees = data[pair.dataset.workload];
		const parts = Array.from(pair.children);
		const rows = Math.max(...parts.map(
			part => depth(trees[part.className])));

		for (const part of parts) {
			charts.push({
				tree: trees[part.className],
				height: (rows + 1) * CELL,
				element: part.querySelector(".chart"),
				note: part.querySelector(".note"),
				hover: part.querySelector(".hover"),
			});
		}
	}

	function term_of_address() {
		const match = /^#search=(.*)$/.exec(location.hash);
		return match ? decodeURIComponent(match[1]) : "";
	}

	document.querySelectorAll(".pair").forEach(add);
	box.value = term_of_address();
	box.addEventListener("input", search);
	document.getElementById("reset").addEventListener("click", reset);
	window.addEventListener("resize", redraw);
	redraw();
	document.body.dataset.ready = charts.length;
})();
