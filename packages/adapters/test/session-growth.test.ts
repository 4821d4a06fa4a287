/** Reading the session files of other programs takes time and memory in proportion to their size. */
import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import type { NativeSessions } from '@inspan/protocol/driver'
import { GROWTH_LIMIT, memoryGrowth, timeGrowth } from '@inspan/testing'
import { claudeSessions } from '../src/claude-code/sessions.ts'
import { codexSessions } from '../src/codex/sessions.ts'
import { OPENCODE } from '../src/opencode/driver.ts'
import { opencodeSessions } from '../src/opencode/sessions.ts'
import { piSessions } from '../src/pi/sessions.ts'
import { scratch } from './launch/stand-in.ts'

const ID = '11111111-2222-4333-8444-555555555555'
const FOLDER = '/work'
const LONG = 200_000
const OFTEN = 2_000

interface Keeper {
  readonly title: string
  readonly id: string
  /** Writes one session with these texts of the user. */
  readonly keep: (home: string, texts: readonly string[]) => Promise<NativeSessions>
}

async function write(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

const lines = (records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('')

const KEEPERS: readonly Keeper[] = [
  {
    title: 'Claude Code',
    id: ID,
    keep: async (home, texts) => {
      const records = texts.map((content) => ({ type: 'user', cwd: FOLDER, message: { role: 'user', content } }))
      await write(join(home, `.claude/projects/-work/${ID}.jsonl`), lines(records))
      return claudeSessions({ HOME: home })
    },
  },
  {
    title: 'Codex',
    id: ID,
    keep: async (home, texts) => {
      const records = texts.map((text) => ({
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
      }))
      const meta = { type: 'session_meta', payload: { id: ID, cwd: FOLDER } }
      const file = join(home, `.codex/sessions/2026/11/18/rollout-2026-11-18T00-20-48-${ID}.jsonl`)
      await write(file, lines([meta, ...records]))
      return codexSessions({ HOME: home })
    },
  },
  {
    title: 'Pi',
    id: ID,
    keep: async (home, texts) => {
      const records = texts.map((text) => ({
        type: 'message',
        message: { role: 'user', content: [{ type: 'text', text }] },
      }))
      const file = join(home, `.pi/agent/sessions/--work--/2026-11-18_${ID}.jsonl`)
      await write(file, lines([{ type: 'session', cwd: FOLDER }, ...records]))
      return piSessions({ HOME: home })
    },
  },
  {
    title: 'OpenCode',
    id: 'ses_1',
    keep: async (home, texts) => {
      const messages = texts.map((text) => ({ info: { role: 'user' }, parts: [{ type: 'text', text }] }))
      const list = texts.map((title, at) => ({ id: `ses_${at}`, title, updated: at, directory: home }))
      await write(join(home, 'export'), JSON.stringify({ messages }))
      await write(join(home, 'session'), JSON.stringify(list))
      const program = join(home, 'opencode')
      await write(program, `#!/bin/sh\nexec cat "${home}/$1"\n`)
      await chmod(program, 0o755)
      return opencodeSessions(OPENCODE, { HOME: home }, async () => ({ path: program, isKnown: true }))
    },
  },
]

describe('reading a session of another program', () => {
  for (const { id, keep, title } of KEEPERS) {
    for (const [what, textsOf] of [
      ['one long text', (factor: number) => ['word '.repeat((LONG * factor) / 5)]],
      ['many records', (factor: number) => Array.from({ length: OFTEN * factor }, (_, at) => `Text ${at}.`)],
    ] as const) {
      it(`${title}: ${what}`, async (t) => {
        const homes = { 1: await scratch(t), 10: await scratch(t) }
        const kept = { 1: await keep(homes[1], textsOf(1)), 10: await keep(homes[10], textsOf(10)) }
        const folderOf = (factor: 1 | 10): string => (title === 'OpenCode' ? homes[factor] : FOLDER)
        const read = (factor: 1 | 10) => async () => Array.fromAsync(kept[factor].read(id, folderOf(factor)))
        const said = (await read(10)()).flatMap(({ parts }) => parts)
        assert.equal(said.length, textsOf(10).length, 'everything was read')
        assert.ok((await timeGrowth(read)) <= GROWTH_LIMIT, 'the time to read')
        assert.ok((await memoryGrowth(read)) <= GROWTH_LIMIT, 'the memory of what was read')
        const list = (factor: 1 | 10) => () => kept[factor].list(folderOf(factor))
        assert.ok((await list(10)()).length > 0, 'it is listed')
        assert.ok((await timeGrowth(list)) <= GROWTH_LIMIT, 'the time to list')
      })
    }
  }
})
