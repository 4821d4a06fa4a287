import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { startProvider } from '@inspan/testing'
import { INSPAN, Serving } from './serving.fixture.ts'

/** Sends a message in a mode to a new thread, allows what it asks for, and waits for the end of the run. */
async function say({ client }: Serving, mode: string): Promise<void> {
  await client.open((await client.routes.createThread({ title: mode })).id)
  await client.send({ type: 'mode', mode }).receipt
  const { runId } = await client.send({ type: 'submit', prompt: 'Go' }).receipt
  const answered = new Set<string>()
  await new Promise<void>((resolve) => {
    const look = (): void => {
      const { head, pendingApprovals = [] } = client.getState()
      for (const { toolCallId } of pendingApprovals) {
        if (answered.has(toolCallId)) continue
        answered.add(toolCallId)
        client.send({ type: 'approve', toolCallId })
      }
      if (head.lastRun?.runId === runId) resolve()
    }
    client.subscribe(look)
    look()
  })
  assert.equal(client.getState().head.lastRun?.outcome, 'complete')
}

suite('inspan serve without options', { timeout: 120_000 }, () => {
  test('offers our own loop if there is a key. It works in the current folder, and the demo agent elsewhere', async () => {
    const call = { name: 'write_file', input: { path: 'made.txt', content: 'by the model' } }
    await using provider = await startProvider([{ toolCalls: [call] }, { text: 'Made.' }])
    const env = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: `${provider.url}/v1` }
    await using serving = await Serving.start({ env })
    const { client, folder } = serving
    const { modes } = await client.routes.modes()
    assert.deepEqual(
      modes.map(({ defaultModelId, id }) => [id, defaultModelId]),
      [
        ['demo', undefined],
        ['build', 'anthropic/claude-sonnet-4-5'],
      ],
    )
    assert.equal(await client.routes.offersWorktrees(), true)
    await say(serving, 'build')
    assert.equal(readFileSync(join(folder, 'made.txt'), 'utf8'), 'by the model')
    await say(serving, 'demo')
    assert.deepEqual(
      readdirSync(folder).filter((name) => name !== '.git'),
      ['a.txt', 'made.txt'],
    )
  })

  test('follows AGENTS.md and the skills of the folder once that is trusted, and not before', async () => {
    const files = { 'AGENTS.md': 'Speak plainly.' }
    await using provider = await startProvider([{ text: 'Hello.' }, { text: 'Hello again.' }])
    const env = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: `${provider.url}/v1` }
    await using serving = await Serving.start({ env, files })
    await say(serving, 'build')
    const inFolder = {
      cwd: serving.folder,
      env: { ...process.env, INSPAN_HOME: serving.home },
      encoding: 'utf8',
    } as const
    assert.equal(execFileSync(process.execPath, [INSPAN, 'trust'], inFolder), `Trusted: ${serving.folder}\n`)
    await serving.kill('SIGTERM')
    await serving.restart()
    await say(serving, 'build')
    assert.deepEqual(
      provider.requests.filter(({ route }) => route === 'main').map(({ text }) => text.includes('Speak plainly.')),
      [false, true],
    )
  })

  test('serves the model that inspan.json names, and nothing else', async () => {
    await using serving = await Serving.start({
      env: { ANTHROPIC_API_KEY: 'key', OPENAI_API_KEY: 'key' },
      files: { 'inspan.json': '{ "model": "openai/gpt-5-mini" }' },
    })
    assert.deepEqual(
      (await serving.client.routes.modes()).modes.map(({ defaultModelId, id }) => [id, defaultModelId]),
      [['build', 'openai/gpt-5-mini']],
    )
  })

  test('offers only the demo agent without a key, in a repository that can be compared in', async () => {
    await using serving = await Serving.start({ isRepository: false })
    const { client } = serving
    assert.deepEqual(
      (await client.routes.modes()).modes.map(({ id }) => id),
      ['demo'],
    )
    assert.equal(await client.routes.offersWorktrees(), true)
    // Each conversation has its own course, also when another begins before it is over.
    const { id: other } = await client.routes.createThread({ title: 'Other' })
    await client.send({ type: 'submit', prompt: 'Go', thread: other }).receipt
    await say(serving, 'demo')
    assert.deepEqual(
      client.getState().messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name)),
      ['list_files', 'write_file'],
    )
    const { id } = await client.routes.createThread({ worktree: true })
    await client.open(id)
    const tree = client.getState().head.settings.get('worktree') as { readonly top: string }
    assert.equal(existsSync(join(tree.top, 'README.md')), true)
  })
})
