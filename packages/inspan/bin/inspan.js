#!/usr/bin/env node
// Plain JavaScript, so that npm can link it before anything is built and an old Node still gets a clear answer.
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(`inspan needs Node.js 22.13 or newer; this is ${process.version}.`)
  console.error('Install a newer Node.js, or, in a clone of the project, run "npx inspan …" after "npm ci".')
  process.exit(1)
}

// Compiled once per user and version: the next start takes a fraction of the time and memory.
module.enableCompileCache()

// A clone runs its sources; an installed package has only what was built from them.
const source = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const { main } = await import(existsSync(source) ? source : new URL('../dist/main.js', import.meta.url).href)
process.exitCode = await main(process.argv.slice(2))
