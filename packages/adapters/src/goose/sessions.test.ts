import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { GROWTH_LIMIT, memoryGrowth, timeGrowth } from '@inspan/testing'
import { aRequest, SESSION } from '../../test/launch/request.ts'
import { program, scratch } from '../../test/launch/stand-in.ts'
import type { EndedRun } from '../launch/print-driver.ts'
import type { PlaceRequest } from '../launch/print-driver.ts'
import { gooseExtensions } from './extensions.ts'
import { gooseSessionOf, placeGooseSession } from './sessions.ts'

/** Makes a program that lists these sessions. */
async function lists(
  t: TestContext,
  answer: string,
  more = '',
): Promise<Pick<PlaceRequest, 'cli' | 'env' | 'cwd' | 'dir'>> {
  const dir = await scratch(t)
  const body = `
    ${more}
    const { writeFileSync } = await import('node:fs')
    writeFileSync('asked.json', JSON.stringify(process.argv.slice(2)))
    console.log(${JSON.stringify(answer)})`
  return { cli: { path: await program(dir, body), isKnown: true }, env: process.env, cwd: dir, dir }
}

const limits = aRequest()
const stored = (id: string, extensions = gooseExtensions(limits).extensions): object => ({
  id,
  name: `inspan-${SESSION}`,
  extension_data: { 'enabled_extensions.v0': { extensions } },
})
const resume = { kind: 'resume', nativeId: '2026_1' } as const

async function place(t: TestContext, answer: string, signal?: AbortSignal): ReturnType<typeof placeGooseSession> {
  const listed = await lists(t, answer)
  return placeGooseSession({ ...listed, session: resume, limits, signal: signal ?? new AbortController().signal })
}

describe('a session of Goose', () => {
  it('is continued when it has the tools of the turn', async (t) => {
    assert.deepEqual(await place(t, JSON.stringify([stored('2026_2'), stored('2026_1')])), resume)
  })

  it('is not continued when it has other tools, because it would keep them', async (t) => {
    const placed = await place(t, JSON.stringify([stored('2026_1', [])]))
    assert.equal(placed.kind === 'new' && placed.because, 'its session was begun with other tools')
  })

  it('is abandoned when it is gone, or when nobody can know', async (t) => {
    for (const answer of ['[]', 'no sessions yet', '{"sessions":1}']) {
      const placed = await place(t, answer)
      assert.equal(placed.kind === 'new' && placed.because, 'its session is gone', answer)
    }
  })

  it('is not looked for when the turn was stopped', async (t) => {
    await assert.rejects(place(t, '[]', AbortSignal.abort()))
  })

  it('a session of Goose that cannot be listed fails the turn', async (t) => {
    const listed = await lists(t, '[]', `console.error('database is locked'); process.exit(4)`)
    await assert.rejects(
      placeGooseSession({ ...listed, session: resume, limits, signal: new AbortController().signal }),
      (error) => InspanError.is(error, 'io') && /database is locked/.test(String(error.details['output'])),
    )
  })
})

describe('the id of a session of Goose', () => {
  it('is looked up by the name it was begun with', async (t) => {
    const listed = await lists(t, JSON.stringify([{ id: '2026_1', name: 'other' }, stored('2026_2')]))
    const ended: EndedRun = { ...listed, request: aRequest({ cwd: listed.cwd }) }
    assert.equal(await gooseSessionOf(ended), '2026_2')
    const asked = JSON.parse(await readFile(join(listed.dir, 'asked.json'), 'utf8')) as unknown
    assert.deepEqual(asked, ['session', 'list', '--format', 'json'])
  })

  it('is known when it was continued', async () => {
    const ended = { cli: { path: '/nowhere', isKnown: true }, env: {}, request: aRequest({ session: resume }) }
    assert.equal(await gooseSessionOf(ended), '2026_1')
  })

  it('is not known when there is no such session', async (t) => {
    const listed = await lists(t, '[]')
    assert.equal(await gooseSessionOf({ ...listed, request: aRequest({ cwd: listed.cwd }) }), undefined)
  })
})

describe('the list of sessions of Goose', () => {
  for (const [what, listOf] of [
    ['many sessions', (factor: number) => Array.from({ length: 300 * factor }, (_, at) => stored(`other_${at}`))],
    ['one session with a long name', (factor: number) => [{ id: 'other', name: 'word '.repeat(40_000 * factor) }]],
    ['a text that is no list', (factor: number) => '['.repeat(200_000 * factor)],
  ] as const) {
    it(`takes time and memory in proportion to its size: ${what}`, async (t) => {
      const written = async (factor: 1 | 10): ReturnType<typeof lists> => {
        const list = listOf(factor)
        const place = await lists(t, '')
        await writeFile(join(place.dir, 'list'), typeof list === 'string' ? list : JSON.stringify(list))
        const path = join(place.dir, 'goose')
        await writeFile(path, `#!/bin/sh\nexec cat "${place.dir}/list"\n`, { mode: 0o755 })
        return { ...place, cli: { path, isKnown: true } }
      }
      const places = { 1: await written(1), 10: await written(10) }
      const { signal } = new AbortController()
      const look = (factor: 1 | 10) => () => placeGooseSession({ ...places[factor], session: resume, limits, signal })
      const placed = await look(10)()
      assert.equal(placed.kind === 'new' && placed.because, 'its session is gone')
      assert.ok((await timeGrowth(look)) <= GROWTH_LIMIT, 'the time to look')
      assert.ok((await memoryGrowth(look)) <= GROWTH_LIMIT, 'the memory of what was found')
    })
  }
})
