/** Lets Codex look at a repository in CI, without the right to change it, and prints a report in Markdown. */
import { codex } from '@inspan/adapters'
import { Harness } from '@inspan/core'
import { startProvider } from '@inspan/testing'

// With --scripted, Codex talks to a provider on this machine that plays these answers: no key is needed.
const isScripted = process.argv.includes('--scripted')
const provider = isScripted
  ? await startProvider([
      { toolCalls: [{ name: 'exec_command', input: { cmd: 'ls', yield_time_ms: 10_000 } }] },
      { text: 'The repository has a README and no tests.', usage: { inputTokens: 20, outputTokens: 9 } },
    ])
  : undefined
const scripted = provider && {
  model: 'gpt-5.5',
  config: {
    model_provider: 'scripted',
    'model_providers.scripted': {
      name: 'scripted',
      base_url: `${provider.url}/v1`,
      env_key: 'CODEX_API_KEY',
      wire_api: 'responses',
    },
  },
  env: { CODEX_API_KEY: 'any' },
}

const harness = new Harness({
  id: 'codex-ci-report',
  // Nobody is there to answer, so one process runs the turn, and what is not allowed is refused.
  agent: codex({ transport: 'print', permissions: 'read-only', cwd: process.cwd(), ...scripted }),
  modes: [{ id: 'review' }],
})

const commands: string[] = []
let answer = ''
let failure: string | undefined
harness.subscribe((event) => {
  if (event.type === 'text') answer += event.text
  if (event.type === 'error') failure = event.error.message
  if (event.type === 'activity' && event.activity.type === 'command') commands.push(event.activity.command)
  if (event.type === 'activity' && event.activity.type === 'list') commands.push(`list ${event.activity.path ?? '.'}`)
})

await harness.sendMessage({ content: 'Review this repository in one sentence.' })
const { tokenUsage } = harness.session.displayState.get()
console.log('# Review by Codex\n')
console.log(failure === undefined ? answer : `The review failed: ${failure}`)
console.log(`\n| what | value |\n| --- | --- |`)
console.log(`| looked at | ${commands.join(', ') || 'nothing'} |`)
console.log(`| tokens | ${tokenUsage.totalTokens} |`)
if (failure !== undefined) process.exitCode = 1
await harness.destroy()
await provider?.close()
