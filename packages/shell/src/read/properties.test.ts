import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import fc from 'fast-check'

import { classify, quote, readCommand } from './index.ts'

/** Pieces of shell syntax, so that random texts get deep into the reader. */
const PIECES = [
  'cat·sed -n·1,5p·rg·grep·find .·-name·-exec·head·-5·ls·cd a·a',
  'env·timeout 5·xargs·bash -c·eval·sudo·f()·if·then·fi·for x in·do·done·case x in·esac',
  `$(·)·\`·"·'·$'·$"·\${·}·$((·))·[[·]]·{a,b}·{·(·<(·>(·<<E·<<'E'·E`,
  ' · · ·\n·\t·\\·;·&&·||·|·&·>·<·>>·2>&1·*·?·[·]·~·!·#·=·$x',
].flatMap((line) => line.split('·'))
const piece = fc.constantFrom(...PIECES)
const shellLike = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
const anyText = fc.oneof(shellLike, fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 200 }))

describe('for any text', () => {
  it('reading gives a reading and classifying a classification', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const reading = readCommand(text)
        assert.equal(typeof reading.ok, 'boolean')
        const operations = classify(text, { cwd: '/w', exitCode: 0 })
        assert.ok(operations === null || operations.length > 0)
      }),
      { numRuns: 3_000 },
    )
  })

  it('a classified text was read in full, and nothing in it is unknown', () => {
    fc.assert(
      fc.property(shellLike, (text) => {
        if (classify(text) === null) return
        const reading = readCommand(text)
        assert.ok(reading.ok)
        assert.deepEqual(reading.suspicious, [])
        assert.deepEqual(
          reading.commands.filter((command) => command.unknown !== null),
          [],
        )
      }),
      { numRuns: 2_000 },
    )
  })

  it('spans and sources agree', () => {
    fc.assert(
      fc.property(shellLike, (text) => {
        const reading = readCommand(text)
        if (!reading.ok) return
        for (const { span, source } of reading.commands) {
          if (span !== null) assert.equal(text.slice(span.start, span.end), source)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('quoted arguments', () => {
  const argument = fc.string({ unit: 'grapheme', maxLength: 30 })
  const program = argument.filter((text) => text !== '')

  it('are read back as they were, and as nothing but arguments', () => {
    fc.assert(
      fc.property(program, fc.array(argument, { maxLength: 6 }), (name, args) => {
        const reading = readCommand(quote(['echo', name, ...args]))
        assert.ok(reading.ok)
        const [command, ...rest] = reading.commands
        assert.deepEqual(rest, [])
        assert.deepEqual(
          command?.args.map((arg) => arg.text),
          [name, ...args],
        )
        assert.ok(command.args.every((arg) => !arg.dynamic))
      }),
      { numRuns: 2_000 },
    )
  })

  it('keep their names, also those that look like assignments', () => {
    assert.equal(quote(['A=1', 'b']), `'A=1' b`)
    const reading = readCommand(quote(['A=1', 'b']))
    assert.ok(reading.ok)
    assert.equal(reading.commands[0]?.program, 'A=1')
  })

  it('survive a shell inside a shell', () => {
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 4 }), (args) => {
        const reading = readCommand(quote(['bash', '-c', quote(['echo', ...args])]))
        assert.ok(reading.ok)
        assert.deepEqual(
          reading.commands[1]?.args.map((arg) => arg.text),
          args,
        )
      }),
      { numRuns: 500 },
    )
  })

  it('are classified by their true path', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 20 }).filter((text) => /^[^-~]/.test(text)),
        (path) => {
          assert.deepEqual(classify(quote(['cat', path])), [{ kind: 'read', path }])
        },
      ),
      { numRuns: 500 },
    )
  })
})
