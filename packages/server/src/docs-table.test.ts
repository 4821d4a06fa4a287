import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { antigravity, claudeCode, cline, codex, goose, kiloCode, opencode, pi } from '@inspan/adapters'

const page = readFileSync(new URL('../../../docs/guide/server.md', import.meta.url), 'utf8')

const STEER: Readonly<Record<string, string>> = {
  inject: 'delivered before the next step',
  restart: 'the turn is restarted with it',
  none: 'the turn is restarted with it',
}
const GOVERNS: Readonly<Record<string, string>> = {
  all: 'every call that a rule asks about',
  'asks-only': 'calls that Codex itself asks about',
  none: 'nobody is asked',
}
const PROMPT: Readonly<Record<string, string>> = { append: 'appends', replace: 'replaces', none: 'warning' }

it('the table of commands has for each coding agent what the agent reports of itself', async () => {
  const live = { transport: 'live' } as const
  const agents = [
    claudeCode(live),
    codex(live),
    opencode(live),
    kiloCode(live),
    goose(live),
    cline(live),
    pi(live),
    antigravity(),
  ]
  for (const agent of agents) {
    const { effort, fork, governs, interrupt, maxSteps, resume, sessions, steer, systemPrompt } = await agent.describe()
    const row = page.split('\n').find((line) => line.startsWith(`| ${agent.id} `)) ?? ''
    const cells = row
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim())
    const [first = '', last = ''] = [effort[0], effort.at(-1)]
    assert.deepEqual(
      cells,
      [
        STEER[steer],
        interrupt === 'clean' ? 'ends its calls' : 'its processes are ended',
        fork === 'anchor' && resume === 'anchor' ? 'continues from there' : 'new session with the history',
        GOVERNS[governs],
        sessions ? 'yes' : '–',
        effort.length === 0 ? 'refused' : `${first} to ${last}`,
        PROMPT[systemPrompt],
        maxSteps ? 'yes' : 'warning',
      ],
      agent.id,
    )
  }
})
