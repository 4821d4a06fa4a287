// In a real browser: Debian's Chromium, or the one that CHROMIUM names.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MemoryStore } from '@inspan/core'
import type { Browser } from 'playwright-core'
import { axeFaults, openPage, say, startBrowser, startStudio } from './studio.fixture.ts'

const WRITE = { text: 'I will write.', toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'hello' } }] }

describe('the web page', { timeout: 240_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  it('opens from the address that inspan serve prints, with the demo agent', async () => {
    const home = await mkdtemp(join(tmpdir(), 'inspan-studio-'))
    const bin = fileURLToPath(new URL('../../inspan/bin/inspan.js', import.meta.url))
    const child = spawn(process.execPath, [bin, 'serve', '--code'], {
      cwd: home,
      env: { PATH: '/usr/bin:/bin', INSPAN_HOME: home },
    })
    try {
      let out = ''
      for await (const chunk of child.stdout) {
        out += String(chunk)
        if (/^Open /m.test(out)) break
      }
      assert.match(out, /^Listening on http:\/\/127\.0\.0\.1:\d+$/m)
      const page = await browser.newPage()
      const problems: string[] = []
      page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())))
      page.on('pageerror', (error) => void problems.push(error.message))
      await page.goto(/^Open (\S+)/m.exec(out)?.[1] ?? '')
      page.on('request', (request) => {
        if (!request.url().startsWith(new URL(page.url()).origin)) problems.push(`asked for ${request.url()}`)
      })
      // Who answers, and what to do for another one.
      await page.getByText(/This is the built-in demo agent.*Install a coding agent or set the key/).waitFor()
      // Something to look at before anything was said.
      await page.getByRole('region', { name: 'Recent' }).getByText('Recording: an agent repairs a test').click()
      await page.getByText('one too much').waitFor()
      await page.getByRole('button', { name: 'edit_file src/add.ts' }).click()
      await page.getByLabel('Changes').getByText('return a + b + 1').waitFor()
      await page.getByRole('button', { name: /Needs you/ }).click()
      await say(page, 'What is here?')
      await page.getByRole('button', { name: 'Allow once' }).click()
      await page.getByText('I am the built-in demo agent').waitFor()
      assert.deepEqual(problems, [])
      await page.close()
    } finally {
      child.kill('SIGTERM')
      await once(child, 'close')
      await rm(home, { recursive: true, force: true })
    }
  })

  it('reports what is wrong with a code in the address, and forgets it', async () => {
    const bench = await startStudio([])
    const page = await browser.newPage()
    await page.goto(`${bench.server.url}/#code=wrong`)
    await page
      .getByRole('alert')
      .getByText(/wrong, used or too old/)
      .waitFor()
    assert.doesNotMatch(page.url(), /code/)
    assert.deepEqual(await axeFaults(page), [])
    await page.close()
    await bench.close()
  })

  it('refuses a wrong code and shows where the right one is', async () => {
    const bench = await startStudio([])
    const page = await browser.newPage()
    await page.goto(bench.server.url)
    await page.getByLabel('One-time code').fill('wrong')
    await page.getByRole('button', { name: 'Connect' }).click()
    assert.match(await page.getByRole('alert').innerText(), /wrong, used or too old.*inspan serve/)
    await page.close()
    await bench.close()
  })

  it('streams an answer, shows the call, and is approved from a second tab', async () => {
    const bench = await startStudio([WRITE, { text: 'It is **written**.' }])
    const first = await openPage(browser, bench)
    await say(first, 'Write it')
    const asked = first.getByRole('group', { name: /write_file: path: a\.txt, content: hello/ })
    await asked.waitFor()
    const second = await first.context().newPage()
    await second.goto(bench.server.url)
    await second.getByRole('button', { name: 'Allow once' }).click()
    await first.getByText('It is written.').waitFor()
    assert.equal(await asked.count(), 0)
    assert.equal(await first.locator('article strong').innerText(), 'written')
    assert.equal(await first.getByLabel('Title of the thread').inputValue(), 'Write it')
    await first.context().close()
    await bench.close()
  })

  it('denies with a reason that the model gets', async () => {
    const bench = await startStudio([WRITE, { text: 'Then not.' }])
    const page = await openPage(browser, bench)
    await say(page, 'Write it')
    await page.getByRole('button', { name: 'Deny…' }).click()
    await page.getByLabel('Reason, told to the agent').fill('not today')
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await page.getByText('Then not.').waitFor()
    await page.getByLabel('denied').waitFor()
    await page.context().close()
    await bench.close()
  })

  it('answers a question with one of its options', async () => {
    const ask = {
      name: 'ask_user',
      input: { question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }] },
    }
    const bench = await startStudio([{ toolCalls: [ask] }, { text: 'Thank you.' }])
    const page = await openPage(browser, bench)
    await say(page, 'Ask me')
    await page.getByRole('button', { name: 'Blue' }).click()
    await page.getByText('Thank you.').waitFor()
    await page.context().close()
    await bench.close()
  })

  it('continues after a reload in the middle of a stream', async () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index} `)
    const bench = await startStudio([{ text: words, delayPerDeltaMs: 50 }])
    const page = await openPage(browser, bench)
    await say(page, 'Speak')
    await page.getByText('word3 ').waitFor()
    await page.reload()
    await page.getByText('word59').waitFor()
    assert.match(await page.getByLabel('Agent', { exact: true }).innerText(), /^word0 word1 .*word58 word59/)
    await page.context().close()
    await bench.close()
  })

  it('still shows a question after the server was replaced', async () => {
    const storage = new MemoryStore()
    const first = await startStudio([WRITE, { text: 'Never said.' }], storage)
    const page = await openPage(browser, first)
    await say(page, 'Write it')
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
    await page.context().close()
    await first.close()
    const next = await startStudio([{ text: 'Written after a restart.' }], storage)
    const again = await openPage(browser, next)
    await again.getByRole('button', { name: 'Allow once' }).click()
    await again
      .getByRole('region', { name: 'Recent' })
      .getByRole('button', { name: /Write it/ })
      .click()
    await again.getByText('Written after a restart.').waitFor()
    await again.context().close()
    await next.close()
  })

  it('forks at a message and lists both threads', async () => {
    const bench = await startStudio([{ text: 'First answer.' }, { text: 'Second answer.' }])
    const page = await openPage(browser, bench)
    await say(page, 'One')
    await page.getByText('First answer.').waitFor()
    await say(page, 'Two')
    await page.getByText('Second answer.').waitFor()
    await page.getByLabel('Agent', { exact: true }).first().hover()
    await page.getByRole('button', { name: 'Fork here' }).nth(1).click()
    await page.getByText('Second answer.').waitFor({ state: 'detached' })
    await page.getByText('First answer.').waitFor()
    await page.locator('nav li').nth(1).waitFor()
    await page.context().close()
    await bench.close()
  })

  it('runs nothing of what a model writes', async () => {
    const bench = await startStudio([
      { text: 'Look: <img src=x onerror="document.title=\'owned\'"><script>1</script> end.' },
    ])
    const page = await openPage(browser, bench)
    await say(page, 'Try')
    await page.getByText('end.').waitFor()
    assert.equal(await page.locator('article img, article script').count(), 0)
    assert.equal(await page.title(), 'Inspan')
    await page.context().close()
    await bench.close()
  })

  it('has no faults that axe finds, in light and dark and on a phone', async () => {
    const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
    const bench = await startStudio([{ reasoning: 'Think.', ...WRITE }, { text: 'Done.' }])
    const page = await openPage(browser, bench)
    await say(page, 'Write it')
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
    // The policy of the page allows no scripts from elsewhere, so axe comes in through the debugger.
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      await page.reload()
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      for (const width of [1100, 390]) {
        await page.setViewportSize({ width, height: 800 })
        await page.evaluate(await readFile(axe, 'utf8'))
        const faults = await page.evaluate(
          'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map((node) => node.html).join(" ")))',
        )
        assert.deepEqual(faults, [], `${scheme}, ${width} wide`)
      }
    }
    await page.context().close()
    await bench.close()
  })
})
