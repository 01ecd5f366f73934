// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: llvmpipe STAMPS SECONDS
 *
 * Draws with shaders by OpenGL ES on Mesa's software renderer, into no window.
 * EGL and GLES are found at run time: nothing needs their headers.
 */
#include <dlfcn.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BILLION			1000000000L
#define SIZE			256

#define EGL_HEIGHT		0x3056
#define EGL_WIDTH		0x3057
#define EGL_NONE		0x3038
#define EGL_SURFACE_TYPE	0x3033
#define EGL_PBUFFER_BIT		1
#define EGL_RENDERABLE_TYPE	0x3040
#define EGL_OPENGL_ES2_BIT	4
#define EGL_CONTEXT_CLIENT_VERSION 0x3098
#define EGL_PLATFORM_SURFACELESS 0x31DD
#define GL_TRIANGLES		4
#define GL_FLOAT		0x1406
#define GL_VERTEX_SHADER	0x8B31
#define GL_FRAGMENT_SHADER	0x8B30
#define GL_COLOR_BUFFER_BIT	0x4000

static void *egl, *gles;

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (!function)
		errx(2, "no %s", name);
	return function;
}

/* EGL(type, name) and GL(...): the function, its type given without names. */
#define EGL(type, name)	((type)find(egl, #name))
#define GL(type, name)	((type)find(gles, #name))

static const char vertex[] =
	"attribute vec2 at; varying vec2 place;"
	"void main() { place = at; gl_Position = vec4(at, 0.0, 1.0); }";

static const char fragment[] =
	"precision highp float; varying vec2 place; uniform float turn;"
	"void main() {"
	" vec2 z = place; float n = 0.0;"
	" for (int i = 0; i < 24; i++) {"
	"  z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) +"
	"      vec2(cos(turn), sin(turn)) * 0.7;"
	"  if (dot(z, z) < 4.0) n += 1.0;"
	" }"
	" gl_FragColor = vec4(n / 24.0, fract(z), 1.0);"
	"}";

static void open_display(void)
{
	static const int config_attr[] = {
		EGL_SURFACE_TYPE, EGL_PBUFFER_BIT,
		EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_NONE
	};
	static const int surface_attr[] = {
		EGL_WIDTH, SIZE, EGL_HEIGHT, SIZE, EGL_NONE
	};
	static const int context_attr[] = {
		EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE
	};
	void *display, *config, *surface, *context;
	int nr = 0;

	display = EGL(void *(*)(unsigned int, void *, const long *),
		      eglGetPlatformDisplay)(EGL_PLATFORM_SURFACELESS, NULL,
					     NULL);
	if (!EGL(int (*)(void *, int *, int *), eglInitialize)(display, NULL,
							       NULL))
		errx(2, "no display");
	EGL(int (*)(void *, const int *, void **, int, int *),
	    eglChooseConfig)(display, config_attr, &config, 1, &nr);
	if (!nr)
		errx(2, "no configuration");
	surface = EGL(void *(*)(void *, void *, const int *),
		      eglCreatePbufferSurface)(display, config, surface_attr);
	context = EGL(void *(*)(void *, void *, void *, const int *),
		      eglCreateContext)(display, config, NULL, context_attr);
	if (!EGL(int (*)(void *, void *, void *, void *), eglMakeCurrent)
	    (display, surface, surface, context))
		errx(2, "no context");
}

static unsigned int compile(unsigned int kind, const char *source)
{
	unsigned int shader;

	shader = GL(unsigned int (*)(unsigned int), glCreateShader)(kind);
	GL(void (*)(unsigned int, int, const char **, const int *),
	   glShaderSource)(shader, 1, &source, NULL);
	GL(void (*)(unsigned int), glCompileShader)(shader);
	return shader;
}

static unsigned int make_program(void)
{
	unsigned int program;
	void (*attach)(unsigned int, unsigned int) = find(gles,
							  "glAttachShader");

	program = GL(unsigned int (*)(void), glCreateProgram)();
	attach(program, compile(GL_VERTEX_SHADER, vertex));
	attach(program, compile(GL_FRAGMENT_SHADER, fragment));
	GL(void (*)(unsigned int, unsigned int, const char *),
	   glBindAttribLocation)(program, 0, "at");
	GL(void (*)(unsigned int), glLinkProgram)(program);
	GL(void (*)(unsigned int), glUseProgram)(program);
	return program;
}

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * BILLION + t.tv_nsec;
}

static long stamp(const char *path, const char *what)
{
	long t = now();
	FILE *file = fopen(path, "a");

	if (!file)
		err(2, "%s", path);
	fprintf(file, "%s %ld.%09ld\n", what, t / BILLION, t % BILLION);
	fclose(file);
	return t;
}

static void draw(long end)
{
	static const float corners[] = { -1, -1, 3, -1, -1, 3 };
	void (*uniform)(int, float) = find(gles, "glUniform1f");
	void (*arrays)(unsigned int, int, int) = find(gles, "glDrawArrays");
	void (*clear)(unsigned int) = find(gles, "glClear");
	void (*done)(void) = find(gles, "glFinish");
	int turn = GL(int (*)(unsigned int, const char *),
		      glGetUniformLocation)(make_program(), "turn");
	float angle = 0;

	GL(void (*)(unsigned int, int, unsigned int, unsigned char, int,
		    const void *), glVertexAttribPointer)(0, 2, GL_FLOAT, 0, 0,
							  corners);
	GL(void (*)(unsigned int), glEnableVertexAttribArray)(0);
	while (now() < end) {
		clear(GL_COLOR_BUFFER_BIT);
		uniform(turn, angle += 0.01f);
		arrays(GL_TRIANGLES, 0, 3);
		done();
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: llvmpipe STAMPS SECONDS");
	egl = dlopen("libEGL.so.1", RTLD_NOW);
	gles = dlopen("libGLESv2.so.2", RTLD_NOW);
	if (!egl || !gles)
		errx(2, "%s", dlerror());
	open_display();
	printf("%s\n", GL(const char *(*)(unsigned int), glGetString)(0x1F01));
	draw(stamp(argv[1], "begin") + atol(argv[2]) * BILLION);
	stamp(argv[1], "end");
	return 0;
}
