// The web page over real files, in a real browser.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import type { Browser } from 'playwright-core'
import { studioPages } from './index.ts'
import { openPage, say, startBrowser } from './studio.fixture.ts'

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
    await page.getByRole('button', { name: 'Allow once' }).click()
    await page.getByText('Changed.').waitFor()
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
})
