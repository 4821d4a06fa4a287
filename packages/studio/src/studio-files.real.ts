// The web page over real files, in a real browser.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import type { Browser } from 'playwright-core'
import { studioPages } from './index.ts'
import { axeFaults, openPage, say, startBrowser } from './studio.fixture.ts'

describe('the web page over real files', { timeout: 240_000 }, () => {
  let browser: Browser
  let folder = ''
  before(async () => {
    browser = await startBrowser()
    folder = await mkdtemp(join(tmpdir(), 'inspan-files-'))
  })
  after(async () => {
    await browser.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  it('shows what a thread changed and rewinds it, after it has shown what that would do', async () => {
    const file = join(folder, 'note.txt')
    await writeFile(file, 'before\n')
    const call = { name: 'write_file', input: { path: 'note.txt', content: 'after\n' } }
    const look = { name: 'read_file', input: { path: 'note.txt' } }
    const model = scriptedModel([{ toolCalls: [look] }, { toolCalls: [call] }, { text: 'Changed.' }])
    const harness = new Harness({
      id: 'files',
      agent: new Agent({ id: 'me', model }),
      modes: [{ id: 'build' }],
      storage: new MemoryStore(),
      workspace: { root: folder },
      permissions: { categories: { read: 'allow' } },
    })
    const server = await serve({ harness, pages: studioPages() })
    const page = await openPage(browser, { server })
    await say(page, 'Change it')
    const asked = page.getByRole('region', { name: 'Waits for you' })
    await asked.getByText('Replaces the file that is there:').waitFor()
    assert.match(await asked.getByLabel('Changes').innerText(), /- before\s+\+ after/)
    await page.getByRole('button', { name: 'Allow once' }).click()
    await page.getByText('Changed.').waitFor()
    await page.getByRole('button', { name: 'write_file note.txt' }).click()
    const card = page.getByLabel('Conversation').getByLabel('Changes')
    await card.getByText('before').waitFor()
    assert.match(await card.innerText(), /- before\s+\+ after/)
    await page.getByRole('button', { name: 'Details' }).click()
    await page.getByText('~ note.txt').click()
    const diff = page.getByRole('region', { name: 'Changed files' }).getByLabel('Changes')
    assert.match(await diff.innerText(), /- before\s+\+ after/)
    assert.equal(await readFile(file, 'utf8'), 'after\n')
    await page.getByLabel('You', { exact: true }).hover()
    await page.getByRole('button', { name: 'Rewind' }).click()
    assert.match(await page.getByRole('dialog').innerText(), /Looking|Would be restored/)
    await page.getByRole('dialog').getByText('Would be restored').waitFor()
    assert.equal(await readFile(file, 'utf8'), 'after\n', 'a dry run changes nothing')
    await page.getByRole('button', { name: 'Files and conversation' }).click()
    await page.getByText('Changed.').waitFor({ state: 'detached' })
    assert.equal(await readFile(file, 'utf8'), 'before\n')
    await page.context().close()
    await server.close()
    await harness.destroy()
  })

  it('compares two lanes in worktrees of their own, and keeps the changes of one', async () => {
    const base = await mkdtemp(join(tmpdir(), 'inspan-lanes-'))
    const root = join(base, 'project')
    await mkdir(root)
    await writeFile(join(root, 'note.txt'), 'before\n')
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-qm', 'Begin'],
    ]) {
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: root })
    }
    const writer = (id: string): Agent => {
      const look = { toolCalls: [{ name: 'read_file', input: { path: 'note.txt' } }] }
      const write = { toolCalls: [{ name: 'write_file', input: { path: 'note.txt', content: `by ${id}\n` } }] }
      return new Agent({ id, model: scriptedModel([look, write, { text: `${id} is done.` }]) })
    }
    const trees = join(base, 'trees')
    const harness = new Harness({
      id: 'lanes',
      modes: [
        { id: 'one', name: 'One', agent: writer('one') },
        { id: 'two', name: 'Two', agent: writer('two') },
      ],
      storage: new MemoryStore(),
      workspace: { root, checkpoints: { folder: join(base, 'kept') }, worktrees: { folder: trees } },
      permissions: { categories: { read: 'allow' } },
    })
    const server = await serve({ harness, worktrees: true, pages: studioPages() })
    const page = await openPage(browser, { server })
    const note = (): Promise<string> => readFile(join(root, 'note.txt'), 'utf8')
    const made = async (): Promise<number> => (await readdir(trees, { recursive: true })).filter(isNote).length
    try {
      await page.getByRole('navigation').getByRole('button', { name: 'Compare agents' }).click()
      await page.getByLabel('Prompt for all').fill('Sign the note')
      assert.equal(await page.getByLabel(/in a git worktree of its own/i).isChecked(), true)
      await page.getByRole('button', { name: 'Start 2 lanes' }).click()
      for (const name of ['One', 'Two']) {
        const lane = page.getByRole('region', { name: `Lane ${name}` })
        await lane.getByText(`${name.toLowerCase()} is done.`).waitFor()
      }
      const differences = page.getByRole('region', { name: 'Differences' })
      await differences.getByText('note.txt').waitFor()
      const rows = await page.getByRole('table').getByRole('row').allInnerTexts()
      assert.match(rows[1] ?? '', /^One\s.*\s1\s+0\s+complete$/)
      assert.match(await differences.innerText(), /- by one\s+\+ by two/)
      assert.deepEqual([await note(), await made()], ['before\n', 2])
      assert.deepEqual(await axeFaults(page), [])
      const kept = page.getByRole('region', { name: 'Lane Two' })
      // Somebody else changed the file: nothing may be lost then.
      await writeFile(join(root, 'note.txt'), 'by hand\n')
      await kept.getByRole('button', { name: 'Keep this one' }).click()
      await kept.getByRole('button', { name: 'Really drop the others' }).click()
      await page
        .getByRole('alert')
        .getByText(/do not fit/)
        .waitFor()
      assert.deepEqual([await note(), await made()], ['by hand\n', 2])
      await writeFile(join(root, 'note.txt'), 'before\n')
      await kept.getByRole('button', { name: 'Really drop the others' }).click()
      await page.getByLabel('Conversation').getByText('two is done.').waitFor()
      assert.deepEqual([await note(), await made()], ['by two\n', 0])
    } finally {
      await page.context().close()
      await server.close()
      await harness.destroy()
      await rm(base, { recursive: true, force: true, maxRetries: 5 })
    }
  })
})

function isNote(path: string): boolean {
  return path.endsWith('note.txt')
}
