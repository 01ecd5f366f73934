# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""flamegraph.py TEMPLATE DIRECTORY: pages as perf's flamegraph.py would make them,
of known stacks, with a script that uses them and says what it sees.
"""
import json
import sys

COMMAND = '/usr/bin/perf record --call-graph=fp -- sfjit run -- prog <b>'
HEADER = '# ========\n# hostname : guest\n# cmdline : %s\n# ========\n' % COMMAND
OPTIONS = {'colorscheme': 'blue-green', 'context': HEADER}
SCRIPT = '</script><script>document.body.dataset.owned = 1</script>'
IMAGE = '</plaintext><img src="http://example.invalid/" onerror="owned()">&amp;\n\u20ac'


def node(name, value, *callees, kind=''):
    return {'n': name, 'l': kind, 'v': value, 'c': list(callees)}


STACKS = node(
    'all', 0,
    node('prog (7)', 0, node(
        '_start', 0, node(
            'main', 1000,
            node('py::b:/x.py', 300, node('A::b', 500), node('a', 200)),
            node(SCRIPT, 400), node(IMAGE, 100),
            node('few', 10, node('fewer', 0, node('single', 1)))))),
    node('swapper', 0, node('secondary_startup_64', 488, kind='kernel'),
         kind='kernel'),
    node('prog (9)', 0, node('[unknown]', 1000)), kind='root')
EMPTY = node('all', 0, kind='root')

# What a user does, and what is said of it: boxes() of each step, the focus.
DRIVER = '''<script>
addEventListener("load", function () {
	const said = {}, id = (name) => document.getElementById(name);
	const at = (name) => [...document.querySelectorAll(".frame")].find(
		(box) => box.getAttribute("aria-label").startsWith(name + ": "));
	const name_of = (element) => {
		const label = element.getAttribute("aria-label");
		return label ? label.slice(0, label.lastIndexOf(": ")) : element.id;
	};
	const boxes = () => [...document.querySelectorAll(".frame")].map((box) => {
		const place = box.getBoundingClientRect();
		const chart = id("chart").getBoundingClientRect();
		return {label: box.getAttribute("aria-label"),
			left: place.left - chart.left, width: place.width,
			row: (chart.bottom - place.bottom) / 18,
			level: box.getAttribute("aria-level"),
			text: box.textContent, kind: box.className};
	});
	const key = (name) => {
		const event = new KeyboardEvent("keydown",
			{key: name, bubbles: true, cancelable: true});
		document.activeElement.dispatchEvent(event);
		return name_of(document.activeElement);
	};
	const search = (text) => {
		id("search").value = text;
		id("search").dispatchEvent(new Event("input"));
		return [id("note").textContent, boxes().filter((box) =>
			box.kind.includes("found")).map((box) => box.label)];
	};
	const reached = () => [...document.querySelectorAll(".frame")].filter(
		(box) => box.tabIndex === 0).map(name_of);
	const hover = (box) => {
		box.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
		return id("about").textContent;
	};

	said.width = id("chart").clientWidth;
	said.back = getComputedStyle(document.body).backgroundColor;
	said.colour = getComputedStyle(document.body).color;
	said.command = id("command").textContent;
	said.header = id("header").textContent;
	said.orange = document.documentElement.className;
	said.note = id("note").textContent;
	said.plain = boxes();
	if (at("main")) {
		said.reached = [reached()];
		said.hover = hover(at("main"));
		at("few").click();
		said.zoomed = boxes();
		at("all").click();
		said.out = boxes();
		at("all").focus();
		said.keys = ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowRight",
			"ArrowRight", "ArrowLeft", "Enter", "ArrowUp", "Escape",
			"ArrowLeft", "ArrowDown", "Home", "ArrowDown", " "].map(key);
		said.about = id("about").textContent;
		said.reached.push(reached());
		at("_start").focus();
		said.keys.push(key("x"), key("/"));
		said.found = search("B:");
		said.nested = search("m");
		said.nothing = search("nobody");
		id("reset").click();
		said.reset = [id("search").value, id("note").textContent, boxes()];
	}
	const result = document.createElement("pre");
	result.id = "said";
	result.textContent = JSON.stringify(said);
	document.body.prepend(result);
});
</script>
'''


def page(template, stacks, options):
    text = template.replace('/** @options_json **/', json.dumps(options))
    return text.replace('/** @flamegraph_json **/', json.dumps(stacks))


def main(path, directory):
    with open(path, encoding='utf-8') as file:
        template = file.read().replace('<plaintext', DRIVER + '<plaintext')
    orange = {'colorscheme': 'orange', 'context': '/** @flamegraph_json **/'}
    for name, stacks, options in (('stacks', STACKS, OPTIONS),
                                  ('empty', EMPTY, OPTIONS),
                                  ('orange', STACKS, {'colorscheme': 'orange',
                                                      'context': ''}),
                                  ('options', STACKS, orange)):
        with open('%s/%s.html' % (directory, name), 'w',
                  encoding='utf-8') as file:
            file.write(page(template, stacks, options))


if __name__ == '__main__':
    main(*sys.argv[1:])
