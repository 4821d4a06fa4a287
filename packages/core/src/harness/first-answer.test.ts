import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Modules that a first answer does not need, and what they are for. */
const LATER: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['schemas for checking what comes from outside', /\/zod\/|\/protocol\/src\/schema/],
  ['what a command means for files, which foreign agents are asked about', /\/shell\/src\/read\/classify\//],
  ['SQLite, which only its own store needs', /^node:sqlite$|\/stores\/sqlite\/(?!database-url)/],
  ['processes', /\/shell\/src\/run\//],
  ['the agents of others', /\/packages\/adapters\//],
  ['the price list of models', /genai-prices/],
  ['tracing', /@opentelemetry/],
  ['the AI SDK itself', /\/node_modules\/ai\//],
  ['the MCP client', /@modelcontextprotocol/],
  ['the browser', /playwright-core/],
  ['YAML of skills', /\/node_modules\/yaml\//],
  ['git and checkpoints', /\/tools\/src\/checkpoints\//],
  ['servers and programs', /^node:(?:http|https|net|child_process|worker_threads)$/],
]

test('the first answer of a new process loads only what it needs', async () => {
  const child = fileURLToPath(new URL('first-answer.fixture.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [child], { timeout: 120_000, maxBuffer: 16_000_000 })
  const { loaded, text } = JSON.parse(stdout) as { text: string; loaded: string[] }
  assert.match(text, /Hello\./)
  assert.ok(
    loaded.some((url) => url.endsWith('/harness/harness.ts')),
    'what was loaded is seen',
  )
  for (const [what, pattern] of LATER) {
    assert.deepEqual(
      loaded.filter((url) => pattern.test(url)),
      [],
      what,
    )
  }
})
