import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { TrustedFolders } from '@inspan/tools'
import { HarnessBench } from '../harness.fixture.ts'

async function project(t: TestContext): Promise<{ folder: string; trust: TrustedFolders }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'inspan-project-')))
  t.after(() => rm(root, { recursive: true }))
  const folder = join(root, 'project')
  await mkdir(join(folder, '.agents/skills/greet'), { recursive: true })
  await writeFile(join(folder, 'AGENTS.md'), 'Speak plainly.')
  await writeFile(join(folder, 'house.md'), 'Close the door.')
  const skill = '---\nname: greet\ndescription: Greets people.\n---\nSay hello.'
  await writeFile(join(folder, '.agents/skills/greet/SKILL.md'), skill)
  return { folder, trust: new TrustedFolders({ file: join(root, 'trusted.json') }) }
}

const READ = { toolCalls: [{ id: 'c1', name: 'skill', input: { name: 'greet' } }] }

suite('what a project contributes to agents', () => {
  test('AGENTS.md and SKILL.md of an untrusted checkout are not used before its folder is trusted', async (t) => {
    const { folder, trust } = await project(t)
    await using bench = new HarnessBench([{ text: 'Done.' }], { project: { folder, trust } })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.doesNotMatch(JSON.stringify(bench.model.requests), /Speak plainly|greet/)
    assert.match(bench.all('info')[0]?.message ?? '', /is not trusted/)
  })

  test('AGENTS.md, rules and skills are followed once it is', async (t) => {
    const { folder, trust } = await project(t)
    await trust.trust(folder)
    const config = {
      project: { folder, trust },
      rules: ['house.md'],
      instructions: 'Help.',
      permissions: { categories: { read: 'allow' } },
    } as const
    await using bench = new HarnessBench([READ, { text: 'Done.' }], config)
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.match(JSON.stringify(bench.model.requests[0]), /Help\.\\n\\nClose the door\.\\n\\nSpeak plainly\./)
    const [end] = bench.all('tool_end')
    assert.equal(end?.result, 'Say hello.')
  })

  test('stops a harness whose configured files are missing', async () => {
    await using bench = new HarnessBench([], { rules: ['/nowhere/rule.md'] })
    await assert.rejects(bench.harness.init(), /There are no rules at/)
  })
})
