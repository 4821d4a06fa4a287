/** What is stored outlives the name of the product, which changed once. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { SqliteStore } from '@inspan/stores'
import { Workspace } from '@inspan/tools'
import { HarnessBench } from './harness.fixture.ts'

const PRODUCT = /inspan/i

suite('the name of the product', () => {
  test('is in no name that a conversation stores', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'names-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const [root, data] = [join(folder, 'root'), join(folder, 'data')]
    const skill = join(root, 'skills', 'greet')
    for (const each of [skill, data]) await mkdir(each, { recursive: true })
    await writeFile(join(skill, 'SKILL.md'), '---\nname: greet\ndescription: Greets.\n---\nSay hello.')
    await writeFile(join(root, 'a.txt'), 'hello')
    const task = { content: 'Look', status: 'in_progress', activeForm: 'Looking' }
    const calls = [
      { id: 'skill', name: 'skill', input: { name: 'greet' } },
      { id: 'read', name: 'read_file', input: { path: 'a.txt' } },
      { id: 'write', name: 'write_file', input: { path: 'b.txt', content: 'b' } },
      { id: 'command', name: 'execute_command', input: { command: 'true' } },
      { id: 'tasks', name: 'task_write', input: { tasks: [task] } },
    ]
    const storage = new SqliteStore({ url: `file:${join(data, 'db')}` })
    {
      await using bench = new HarnessBench([...calls.map((call) => ({ toolCalls: [call] })), { text: 'Done.' }], {
        storage,
        workspace: new Workspace({ root }),
        skills: [join(root, 'skills')],
        modes: [{ id: 'build' }, { id: 'plan' }],
        permissions: { categories: { read: 'allow', edit: 'allow', execute: 'allow' } },
      })
      const { session } = bench.harness
      await session.sendMessage({ content: 'Go.' })
      await session.mode.switch({ modeId: 'plan' })
      await session.permissions.setForTool({ toolName: 'write_file', policy: 'ask' })
      await session.signals.sendNotificationSignal({ source: 'ci', kind: 'build', summary: 'Red.', priority: 'low' })
      assert.deepEqual(
        bench.all('tool_end').filter(({ isError }) => isError),
        [],
      )
    }
    await storage.close()
    const stored = await Promise.all((await readdir(data)).map((name) => readFile(join(data, name), 'latin1')))
    for (const { name } of calls)
      assert.ok(
        stored.some((text) => text.includes(name)),
        name,
      )
    for (const text of stored) assert.doesNotMatch(text, PRODUCT)
  })

  test('is in no database of an earlier layout', async () => {
    const golden = new URL('../../../stores/src/fixtures/', import.meta.url)
    const names = (await readdir(golden)).filter((name) => name.endsWith('.db'))
    assert.ok(names.length > 0)
    for (const name of names) assert.doesNotMatch(await readFile(new URL(name, golden), 'latin1'), PRODUCT)
  })
})
