import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, chmod, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { LineSplitter } from './line-splitter.ts'
import type { LineSplitterOptions } from './line-splitter.ts'
import { openSpool, SpoolError } from './spool.ts'
import type { Spool, SpoolOptions, SpoolSummary } from './spool.ts'
import { readSpool } from './spool-read.ts'
import { recordedBytes } from './spool-record.ts'
import type { SpoolRecord } from './spool-record.ts'

let dir = ''
let files = 0
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'inspan-spool-'))
})
after(() => rm(dir, { recursive: true }))

function freshFile(): string {
  files += 1
  return join(dir, `${files}.raw.jsonl`)
}

async function write(spool: Spool, input: string | Buffer, options: LineSplitterOptions = {}): Promise<void> {
  const pending: Promise<void>[] = []
  const splitter = new LineSplitter((line) => pending.push(spool.write('stdout', line) ?? Promise.resolve()), options)
  splitter.push(Buffer.from(input))
  splitter.end()
  await Promise.all(pending)
}

async function record(file: string, input: string | Buffer, options: SpoolOptions = {}): Promise<SpoolSummary> {
  const spool = await openSpool({ file }, options)
  await write(spool, input)
  return spool.close()
}

async function recordsOf(file: string): Promise<SpoolRecord[]> {
  return Array.fromAsync(readSpool(file))
}

const bytesOf = (records: readonly SpoolRecord[]): Buffer =>
  Buffer.concat(records.flatMap((one) => ('line' in one || 'base64' in one ? [recordedBytes(one)] : [])))

describe('a spool', () => {
  it('keeps the time it is given, and notes about the run between its lines, also beyond the size limit', async () => {
    const file = freshFile()
    const spool = await openSpool({ file }, { maxBytes: 120 })
    const splitter = new LineSplitter((line) => void spool.write('stderr', line, 1234))
    spool.note({ run: 'first' }, 1000)
    splitter.push(Buffer.from('kept\n'))
    splitter.push(Buffer.from(`${'x'.repeat(200)}\n`))
    spool.note({ end: 'last' }, 2000)
    await spool.close()
    const records = await recordsOf(file)
    assert.deepEqual(records[0], { at: 1000, note: { run: 'first' } })
    assert.deepEqual(records[1], { at: 1234, stream: 'stderr', line: 'kept' })
    assert.ok(records[2] !== undefined && 'limit' in records[2])
    assert.deepEqual(records[3], { at: 2000, note: { end: 'last' } })
  })

  it('writes one JSON record per line, with time and stream', async () => {
    const file = freshFile()
    const before = Date.now()
    await record(file, '{"a":1}\nnext\n')
    const records = (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { at: number })
    assert.deepEqual(
      records.map((one) => ({ ...one, at: 0 })),
      [
        { at: 0, stream: 'stdout', line: '{"a":1}' },
        { at: 0, stream: 'stdout', line: 'next' },
      ],
    )
    assert.ok(records.every(({ at }) => at >= before && at <= Date.now()))
  })

  it('returns exactly the bytes that were written, whatever they are', async () => {
    const stream = fc
      .array(
        fc.oneof(
          fc.constantFrom('\n', '\r\n', '\r', '\0', '\uFEFF', '\u2028', 'x'.repeat(40)),
          fc.string({ unit: 'binary', maxLength: 20 }),
          fc.uint8Array({ maxLength: 20 }),
        ),
        { maxLength: 20 },
      )
      .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))))
    const property = fc.asyncProperty(stream, fc.integer({ min: 16, max: 100 }), async (bytes, maxLineBytes) => {
      const file = freshFile()
      const spool = await openSpool({ file })
      await write(spool, bytes, { maxLineBytes })
      await spool.close()
      assert.deepEqual(bytesOf(await recordsOf(file)), bytes)
    })
    await fc.assert(property, { numRuns: 50 })
  })

  it('marks the pieces of a long line', async () => {
    const file = freshFile()
    const spool = await openSpool({ file })
    await write(spool, 'a'.repeat(40), { maxLineBytes: 16 })
    await spool.close()
    const pieces = (await recordsOf(file)).map((one) => ('piece' in one ? one.piece : undefined))
    assert.deepEqual(pieces, [0, 1, 2])
  })

  it('is readable by its owner only, and so is the directory it makes', async () => {
    const spool = await openSpool({ dir: join(dir, 'new', 'run-1') })
    await spool.close()
    assert.equal(spool.file, join(dir, 'new', 'run-1', 'raw.jsonl'))
    assert.equal((await stat(spool.file)).mode & 0o777, 0o600)
    assert.equal((await stat(join(dir, 'new', 'run-1'))).mode & 0o777, 0o700)
    assert.equal((await stat(join(dir, 'new'))).mode & 0o777, 0o700)

    const open = freshFile()
    await writeFile(open, '')
    await chmod(open, 0o644)
    await record(open, 'x\n')
    assert.equal((await stat(open)).mode & 0o777, 0o600)
  })

  it('does not write through a link, into a directory or into a device', async () => {
    const target = freshFile()
    await writeFile(target, 'precious')
    const link = freshFile()
    await symlink(target, link)
    await assert.rejects(openSpool({ file: link }), SpoolError)
    await assert.rejects(openSpool({ file: dir }), SpoolError)
    await assert.rejects(openSpool({ file: '/dev/null' }), SpoolError)
    assert.equal(await readFile(target, 'utf8'), 'precious')
  })

  it('reports in one record how much the size limit has kept out', async () => {
    const file = freshFile()
    const summary = await record(file, `${'x'.repeat(99)}\n`.repeat(50), { maxBytes: 1000 })
    const records = await recordsOf(file)
    const limits = records.filter((one) => 'limit' in one)
    const lines = records.length - 1
    assert.ok(lines > 2 && lines < 10)
    assert.equal(limits.length, 1)
    assert.equal(records.at(-1), limits[0])
    const notRecorded = { lines: 50 - lines, bytes: (50 - lines) * 100 }
    assert.deepEqual({ ...limits[0], at: 0 }, { at: 0, limit: 1000, notRecorded, final: true })
    assert.deepEqual(summary, { recorded: lines, notRecorded })
  })

  it('reports that at once: a writer that dies then has left the record', async () => {
    const file = freshFile()
    const spool = await openSpool({ file }, { maxBytes: 100 })
    await write(spool, `${'x'.repeat(99)}\n`.repeat(5))
    await spool.flush()
    const [limit] = await recordsOf(file)
    assert.ok(limit !== undefined && 'limit' in limit)
    assert.equal(limit.final, false)
    assert.ok(limit.notRecorded.lines >= 3 && limit.notRecorded.lines <= 5)
    await spool.close()
  })

  it('redacts before it writes, and reports that it did', async () => {
    const file = freshFile()
    await record(file, 'key=sk-123 ok\nplain\n', { redact: (line) => line.replace(/sk-\w+/, '[key]') })
    assert.doesNotMatch(await readFile(file, 'utf8'), /sk-123/)
    const [first, second] = await recordsOf(file)
    assert.deepEqual({ ...first, at: 0 }, { at: 0, stream: 'stdout', line: 'key=[key] ok', redacted: true })
    assert.deepEqual({ ...second, at: 0 }, { at: 0, stream: 'stdout', line: 'plain' })
  })

  it('redacts a line that is not UTF-8 too, and keeps its bytes only when there was nothing to redact', async () => {
    const file = freshFile()
    const input = Buffer.concat([Buffer.from('sk-123 \xff\n', 'latin1'), Buffer.from('none \xff\n', 'latin1')])
    await record(file, input, { redact: (line) => line.replace(/sk-\w+/, '[key]') })
    const [first, second] = await recordsOf(file)
    assert.deepEqual({ ...first, at: 0 }, { at: 0, stream: 'stdout', line: '[key] \uFFFD', redacted: true })
    assert.ok(second !== undefined && 'base64' in second)
  })

  it('withholds a line that could not be redacted', async () => {
    const file = freshFile()
    const redact = (line: string): string => {
      if (line.includes('sk-')) throw new Error(`cannot redact ${line}`)
      return line
    }
    await record(file, 'sk-123\nok\n', { redact })
    assert.doesNotMatch(await readFile(file, 'utf8'), /sk-123/)
    const [first, second] = await recordsOf(file)
    assert.deepEqual({ ...first, at: 0 }, { at: 0, stream: 'stdout', withheld: 'the redactor failed', bytes: 7 })
    assert.deepEqual({ ...second, at: 0 }, { at: 0, stream: 'stdout', line: 'ok' })
  })

  it('is continued when it is opened again, also after a torn end', async () => {
    const file = freshFile()
    await record(file, 'one\ntwo\n')
    await truncate(file, (await stat(file)).size - 5)
    await record(file, 'three\n')
    const seen = (await recordsOf(file)).map((one) => ('line' in one ? one.line : Object.keys(one)))
    assert.deepEqual(seen, ['one', ['damaged'], 'three'])
  })

  it('reports lines that come after it was closed', async () => {
    const errors: SpoolError[] = []
    const spool = await openSpool({ file: freshFile() }, { onError: (error) => errors.push(error) })
    await spool.close()
    await write(spool, 'late\nlater\n')
    assert.equal(errors.length, 1)
    assert.match(errors[0]?.message ?? '', /closed while lines still came/)
  })

  it('continues without recording when the file cannot grow, and reports what is missing', async () => {
    const module = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href)
    const program = `
      import { openSpool } from ${module('./spool.ts')}
      import { LineSplitter } from ${module('./line-splitter.ts')}
      const errors = []
      const spool = await openSpool({ file: ${JSON.stringify(freshFile())} }, { onError: (error) => errors.push(error.cause.code) })
      const splitter = new LineSplitter((line) => spool.write('stdout', line))
      splitter.push(Buffer.from('first\\n'))
      await spool.flush()
      splitter.push(Buffer.from(('x'.repeat(999) + '\\n').repeat(100)))
      await spool.flush()
      splitter.push(Buffer.from('last\\n'))
      const summary = await spool.close()
      console.log(JSON.stringify({ errors, recorded: summary.recorded, notRecorded: summary.notRecorded, name: summary.error.name }))`
    const script = 'trap "" XFSZ; ulimit -f 16; exec "$0" --input-type=module --eval "$1"'
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script, process.execPath, program])
    assert.deepEqual(JSON.parse(stdout), {
      errors: ['EFBIG'],
      recorded: 1,
      notRecorded: { lines: 101, bytes: 100_005 },
      name: 'SpoolError',
    })
  })
})

describe('readSpool', () => {
  it('gives everything before a torn last line, wherever it is torn', async () => {
    const file = freshFile()
    await record(file, 'one\ntwo\n')
    const whole = await readFile(file)
    const firstEnd = whole.indexOf('\n') + 1
    for (let size = firstEnd; size < whole.length - 1; size += 1) {
      const torn = freshFile()
      await writeFile(torn, whole.subarray(0, size))
      const records = await recordsOf(torn)
      assert.ok(records[0] !== undefined && 'line' in records[0] && records[0].line === 'one')
      assert.ok(records.slice(1).every((one) => 'damaged' in one))
    }
  })

  it('gives what is not a record as damaged', async () => {
    const file = freshFile()
    await record(file, 'one\n')
    await appendFile(file, 'not json\n{"at":1}\n[]\nnull\n{"at":1,"stream":"stdin","line":"x"}\n')
    const records = await recordsOf(file)
    assert.equal(records.length, 6)
    assert.deepEqual(records[1], { damaged: 'not json' })
    assert.ok(records.slice(1).every((one) => 'damaged' in one))
  })

  it('fails when there is no such file', async () => {
    await assert.rejects(recordsOf(join(dir, 'missing.jsonl')), { code: 'ENOENT' })
  })
})
