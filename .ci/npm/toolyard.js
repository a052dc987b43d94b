#!/usr/bin/env node
// Runs the program from the package of this platform, with the same arguments, terminal, signals and exit code.
"use strict";

const { spawn } = require("node:child_process");
const { isatty } = require("node:tty");

const { optionalDependencies } = require("./package.json");
const place = `@toolyard/${process.platform}-${process.arch}`;
const packages = Object.keys(optionalDependencies).filter((name) => name.startsWith(place));
const found = packages.flatMap((name) => {
  try {
    return [require.resolve(`${name}/toolyard`)];
  } catch {
    return [];
  }
});
// Older versions of npm install the package of each C library. The program for musl needs none.
const program = found.find((path) => path.includes("-musl")) ?? found[0];

if (program === undefined) {
  const all = Object.keys(optionalDependencies).map((name) => name.slice("@toolyard/".length));
  const why = packages.length
    ? `${packages.join(" or ")} is not installed; install toolyard again, without --omit=optional`
    : `there is no program for ${process.platform}-${process.arch}, only for ${all.join(", ")}`;
  console.error(`toolyard: ${why}`);
  process.exit(1);
}

// Newer versions of Node.js let the program take the place of this process.
if (process.execve && process.platform !== "win32") {
  process.execve(program, [program, ...process.argv.slice(2)], process.env);
}
const env = { ...process.env, TOOLYARD_LAUNCHER: String(process.pid) };
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", env });
child.on("error", (error) => {
  console.error(`toolyard: cannot run ${program}: ${error.message}`);
  process.exit(1);
});
// The terminal sends these two to the program as well.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => isatty(0) || child.kill(signal));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
