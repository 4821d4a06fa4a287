import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { loadRules, nearestAgentsFile } from './load-rules.ts'

async function folderWith(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'inspan-rules-')))
  t.after(() => rm(folder, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

suite('rules', () => {
  test('are read in the given order, folders alphabetically and one level deep', async (t) => {
    const root = await folderWith(t, {
      'rules/b.md': 'B',
      'rules/a.md': '---\ntitle: A\n---\nA\n',
      'rules/c.txt': 'no',
      'rules/deep/d.md': 'no',
      'first.md': 'First',
    })
    const rules = await loadRules(['first.md', 'rules'], root)
    assert.deepEqual(
      rules.map(({ text }) => text),
      ['First', 'A', 'B'],
    )
    assert.equal(rules[1]?.path, join(root, 'rules/a.md'))
  })

  test('rules that are missing, too large, no Markdown or lead elsewhere are refused by name', async (t) => {
    const outside = await folderWith(t, { 'secret.md': 'secret' })
    const root = await folderWith(t, { 'large.md': 'x'.repeat(200_000), 'rule.txt': 'x', 'rules/a.md': 'A' })
    await symlink(join(outside, 'secret.md'), join(root, 'rules/link.md'))
    await assert.rejects(loadRules(['missing.md'], root), /There are no rules at .*missing\.md/)
    await assert.rejects(loadRules(['large.md'], root), /large\.md is larger than/)
    await assert.rejects(loadRules(['rule.txt'], root), /rule\.txt is none/)
    await assert.rejects(loadRules(['rules'], root), /link\.md leads out of/)
  })
})

test('the nearest of several AGENTS.md files holds, up to the trusted folder', async (t) => {
  const root = await folderWith(t, { 'AGENTS.md': 'top', 'a/AGENTS.md': 'near', 'a/b/x': '', 'c/d/x': '' })
  const text = async (folder: string, within = root): Promise<string | undefined> =>
    (await nearestAgentsFile(join(root, folder), within))?.text
  assert.deepEqual([await text('a/b'), await text('c/d'), await text('a')], ['near', 'top', 'near'])
  assert.equal(await text('c/d', join(root, 'c')), undefined)
  // One that leads elsewhere, or is too large, is refused by name.
  const outside = await folderWith(t, { 'secret.md': 'secret' })
  await symlink(join(outside, 'secret.md'), join(root, 'c/AGENTS.md'))
  await assert.rejects(text('c/d'), /c\/AGENTS\.md leads out of/)
  await writeFile(join(root, 'a/AGENTS.md'), 'x'.repeat(200_000))
  await assert.rejects(text('a/b'), /a\/AGENTS\.md is larger than/)
})
