// The JSON schemas of the protocol, as the official conformance suite carries
// them: node schemas.mjs BUNDLE prints them as a JSON list, oldest first.
import { readFileSync } from "node:fs";

const text = readFileSync(process.argv[2], "utf8");

// Where an object literal that begins at 'at' ends: strings are skipped.
function end(at) {
	for (let i = at, depth = 0; i < text.length; i++) {
		const c = text[i];
		if (c === "`" || c === '"' || c === "'") {
			for (i++; text[i] !== c; i++)
				if (text[i] === "\\")
					i++;
		} else if (c === "{") {
			depth++;
		} else if (c === "}" && --depth === 0) {
			return i + 1;
		}
	}
	throw new Error("no end");
}

const found = [];
const head = /\{\$schema:`[^`]*`,(?:definitions|\$defs):\{Annotations:/g;
for (let m; (m = head.exec(text)) !== null;)
	found.push(new Function("return " + text.slice(m.index, end(m.index)))());
process.stdout.write(JSON.stringify(found));
