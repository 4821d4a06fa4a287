import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LineSplitter, type Line } from '@inspan/shell/run'
import { codexDialect } from '../codex/mapper.ts'
import { activityOf } from '../kit/activity.ts'
import { RunLog } from './run-log.ts'

function linesOf(...texts: readonly string[]): Line[] {
  const lines: Line[] = []
  const splitter = new LineSplitter((line) => lines.push(line))
  splitter.push(Buffer.from(texts.map((text) => `${text}\n`).join('')))
  return lines
}

describe('RunLog', () => {
  it('gives lines that came together one time, and later ones a later time', async () => {
    let now = 0
    const times: string[] = []
    const log = new RunLog(
      codexDialect,
      () => (now += 1000),
      (event) => times.push(...activityOf(event).map(({ timestamp }) => timestamp)),
    )
    await log.lines('stdout', linesOf('early one', 'early two'))
    log.open({ harness: 'codex' })
    await log.lines('stdout', linesOf('three', 'four'))
    await log.lines('stderr', linesOf('five', 'six'))
    assert.deepEqual(times, [
      '1970-01-01T00:00:01.000Z',
      '1970-01-01T00:00:01.000Z',
      '1970-01-01T00:00:02.000Z',
      '1970-01-01T00:00:02.000Z',
      '1970-01-01T00:00:03.000Z',
      '1970-01-01T00:00:03.000Z',
    ])
    await log.close()
  })
})
