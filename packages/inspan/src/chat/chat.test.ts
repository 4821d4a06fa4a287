import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const inspanFile = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))

function chat(...args: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  return spawnSync(process.execPath, [inspanFile, 'chat', ...args], { input: '', encoding: 'utf8' })
}

test('without a terminal, the chat names what to use instead', () => {
  const { status, stderr } = chat()
  assert.equal(status, 1)
  assert.equal(
    stderr,
    'inspan chat: "inspan chat" needs a terminal for its input and output. Use "inspan run" in scripts and pipes.\n',
  )
})

test('options that exclude each other are refused', () => {
  const both = chat('--model', 'a/b', '--harness', 'codex')
  assert.equal(both.status, 2)
  assert.match(both.stderr, /--model and --harness exclude each other/)
  assert.match(chat('--connect', 'http://127.0.0.1:1', '--harness', 'pi').stderr, /--connect talks to the agents/)
  assert.match(chat('--token-file', 'x').stderr, /--token-file needs --connect/)
  assert.match(chat('--harness', 'codx').stderr, /there is no coding agent "codx".*"codex"/)
})
