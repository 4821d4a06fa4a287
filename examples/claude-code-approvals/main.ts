/** Claude Code as the agent. It asks before it runs a command, and each question is answered here. */
import { createInterface } from 'node:readline/promises'
import { claudeCode } from '@inspan/adapters'
import { Harness } from '@inspan/core'
import { startProvider } from '@inspan/testing'

// With --scripted, Claude Code talks to a provider on this machine that plays these answers: no key is needed.
const isScripted = process.argv.includes('--scripted')
const provider = isScripted
  ? await startProvider([
      { toolCalls: [{ name: 'Bash', input: { command: 'touch made.txt', description: 'Make a file' } }] },
      { text: 'Done.' },
    ])
  : undefined
const env = provider && { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'any', CLAUDE_CODE_MAX_RETRIES: '1' }

const terminal = createInterface({ input: process.stdin, terminal: false })
const lines = terminal[Symbol.asyncIterator]()
const harness = new Harness({
  id: 'claude-code-approvals',
  agent: claudeCode({ transport: 'live', cwd: process.cwd(), ...(env === undefined ? {} : { env }) }),
  modes: [{ id: 'work' }],
  permissions: { categories: { read: 'allow', edit: 'ask', execute: 'ask' } },
})

harness.subscribe(async (event) => {
  if (event.type === 'text') process.stdout.write(event.text)
  if (event.type === 'error') process.exitCode = 1
  if (event.type === 'tool_approval_required') {
    process.stdout.write(`May it run ${event.toolName} ${JSON.stringify(event.args)}? [y/n] `)
    // The end of the input is no approval.
    const { value: answer = 'n' } = await lines.next()
    const decision = answer.trim() === 'y' ? 'approve' : 'decline'
    await harness.session.respondToToolApproval({ decision, toolCallId: event.toolCallId })
  }
})

const prompt = process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? 'Make a file named made.txt.'
await harness.sendMessage({ content: prompt })
process.stdout.write('\n')
terminal.close()
await harness.destroy()
await provider?.close()
