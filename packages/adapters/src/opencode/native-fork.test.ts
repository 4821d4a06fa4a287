import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { aRequest } from '../../test/launch/request.ts'
import { program, scratch } from '../../test/launch/stand-in.ts'
import type { SessionChoice } from '../launch/native-session.ts'
import type { PlaceRequest } from '../launch/print-driver.ts'
import { OPENCODE } from './driver.ts'
import { placeAtAnchor } from './native-fork.ts'

/** Serves one session with three messages, and forks it. Answers only with the password. */
const SERVER = `
  const { createServer } = await import('node:http')
  const { appendFileSync, writeFileSync } = await import('node:fs')
  const sessions = { ses_1: ['m1', 'm2', 'm3'] }
  const password = 'Basic ' + Buffer.from('opencode:' + process.env.OPENCODE_SERVER_PASSWORD).toString('base64')
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    appendFileSync('asked.jsonl', JSON.stringify([request.method, request.url, body]) + '\\n')
    const answer = (status, value) => { response.statusCode = status; response.end(JSON.stringify(value)) }
    if (request.headers.authorization !== password) return answer(401, {})
    const [, , id, what] = request.url.split('/')
    const messages = sessions[id]
    if (messages === undefined) return answer(404, {})
    if (what === 'message') return answer(200, messages.map((message) => ({ info: { id: message } })))
    if (process.env.BROKEN === '1') return answer(500, { error: 'disk full' })
    const before = messages.indexOf(JSON.parse(body).messageID)
    sessions.ses_2 = (before === -1 ? messages : messages.slice(0, before)).map((message) => 'copy-of-' + message)
    answer(200, { id: 'ses_2' })
  })
  writeFileSync('pid', String(process.pid))
  server.listen(0, '127.0.0.1', () => console.log('opencode server listening on http://127.0.0.1:' + server.address().port))`

interface Placed {
  readonly place: (session: PlaceRequest['session'], signal?: AbortSignal) => Promise<SessionChoice>
  readonly dir: string
}

async function stage(t: TestContext, body = SERVER, env: NodeJS.ProcessEnv = {}): Promise<Placed> {
  const dir = await scratch(t)
  const cli = { path: await program(dir, body), isKnown: true }
  const place: Placed['place'] = (session, signal = new AbortController().signal) =>
    placeAtAnchor(
      { session, limits: aRequest(), cli, env: { ...process.env, ...env }, cwd: dir, dir, signal },
      OPENCODE,
    )
  return { place, dir }
}

const resume = (anchor: string, nativeId = 'ses_1'): PlaceRequest['session'] => ({ kind: 'resume', nativeId, anchor })

/** Resolves when the process has exited and this process, its parent, has noticed. */
async function isOver(dir: string): Promise<void> {
  const pid = Number(await readFile(join(dir, 'pid'), 'utf8'))
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('a session of OpenCode', () => {
  it('a session of OpenCode that ends at the anchor is resumed as it is', async (t) => {
    const { place, dir } = await stage(t)
    assert.deepEqual(await place(resume('m3')), resume('m3'))
    await isOver(dir)
  })

  it('a session of OpenCode that continues after the anchor is forked there, and the copy has an anchor of its own', async (t) => {
    const { place, dir } = await stage(t)
    assert.deepEqual(await place(resume('m2')), { kind: 'resume', nativeId: 'ses_2', anchor: 'copy-of-m2' })
    const asked = (await readFile(join(dir, 'asked.jsonl'), 'utf8')).trim().split('\n')
    assert.equal(asked[1], JSON.stringify(['POST', '/session/ses_1/fork', '{"messageID":"m3"}']))
  })

  it('a session of OpenCode that is to be forked is copied in whole where it ends at the anchor', async (t) => {
    const { place } = await stage(t)
    const placed = await place({ kind: 'fork', nativeId: 'ses_1', anchor: 'm3', id: 'any' })
    assert.deepEqual(placed, { kind: 'resume', nativeId: 'ses_2', anchor: 'copy-of-m3' })
  })

  it('a session of OpenCode that is gone, or does not hold the anchor, is replaced by a new one', async (t) => {
    const { place } = await stage(t)
    const gone = await place(resume('m1', 'ses_9'))
    assert.equal(gone.kind === 'new' && gone.because, 'its session is gone')
    const other = await place(resume('m9'))
    assert.match((other.kind === 'new' && other.because) || '', /no longer holds/)
  })
})

describe('the server of OpenCode', () => {
  it('the server of OpenCode that does not start fails the turn, with what it said', async (t) => {
    const { place } = await stage(t, `console.error('bad configuration'); process.exit(1)`)
    await assert.rejects(place(resume('m1')), (error) => {
      assert.ok(InspanError.is(error, 'io'))
      assert.match(error.message, /did not start\. bad configuration/)
      return true
    })
  })

  it('the server of OpenCode that answers with a failure fails the turn, and is ended', async (t) => {
    const { place, dir } = await stage(t, SERVER, { BROKEN: '1' })
    await assert.rejects(place(resume('m1')), (error) => InspanError.is(error, 'io') && /500/.test(error.message))
    await isOver(dir)
  })

  it('is ended when the turn is stopped before it listens', async (t) => {
    const { place, dir } = await stage(
      t,
      `(await import('node:fs')).writeFileSync('pid', String(process.pid)); forever()`,
    )
    const stop = new AbortController()
    const placing = place(resume('m1'), stop.signal)
    while ((await readFile(join(dir, 'pid'), 'utf8').catch(() => '')) === '')
      await new Promise((go) => setTimeout(go, 20))
    stop.abort()
    await assert.rejects(placing)
    await isOver(dir)
  })
})
