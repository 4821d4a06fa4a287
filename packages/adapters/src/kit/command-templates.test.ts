import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { classify } from '@evener/shell/read'
import { templateOf } from './command-templates.ts'
import { memoized, type Classify } from './shell-command.ts'

describe('commands that differ only in names', () => {
  it('are read once', () => {
    const read: string[] = []
    const counting: Classify = (command, options) => {
      read.push(command)
      return classify(command, options)
    }
    const remembered = memoized(counting)
    for (let index = 0; index < 50; index += 1) {
      assert.deepEqual(remembered(`/bin/bash -lc 'cat src/file${index}.ts'`, { cwd: '/repo', exitCode: 0 }), [
        { kind: 'read', path: `/repo/src/file${index}.ts`, success: true },
      ])
      assert.deepEqual(remembered(`rg -n word${index} lib/dir${index}`, { cwd: '/repo' }), [
        { kind: 'search', query: `word${index}`, path: `/repo/lib/dir${index}` },
      ])
      assert.equal(remembered(`touch made${index}`, {}), null)
    }
    assert.deepEqual(read, ['cat zq0qz', 'rg -n zq0qz zq1qz', 'touch zq0qz'])
  })

  it('keep what is more than a name: numbers, options, quotes, programs', () => {
    for (const [one, other] of [
      ['head -n 5 a.txt', 'head -n 6 a.txt'],
      ['cat -n a.txt', 'cat -b a.txt'],
      ["sed -n '1,2p' a.txt", "sed -n '3,4p' a.txt"],
      ['sudo cat a.txt', 'sudo rm a.txt'],
      ['cat a.txt | head -2', 'cat a.txt | tail -2'],
      ['cd src && cat a.txt', 'cd lib && cat a.txt'],
      ['cat /a.txt', 'cat a.txt'],
    ] as const) {
      assert.notEqual(templateOf(one)?.text ?? one, templateOf(other)?.text ?? other)
    }
  })

  it('are nothing that expands, redirects or quotes inside words', () => {
    for (const command of [
      'cat $X',
      'cat *.ts',
      'cat a > b',
      'cat "a b"',
      'cat ~/a',
      'cat a\\ b',
      'cat $(ls)',
      'cat a;rm b',
      'cat {a,b}',
      "cat 'a'b",
      "bash -lc 'cat a' b",
      'cat a # b',
      'X=1 cat a',
      'cat a &',
    ]) {
      const template = templateOf(command)
      assert.ok(template === undefined || !template.names.some((name) => /[^\w./@:,-]/.test(name)), command)
    }
  })

  it('are found to be just what they are found to be one by one', () => {
    const program = fc.constantFrom(
      'cat',
      'ls',
      'rg',
      'grep',
      'head',
      'tail',
      'nl',
      'wc',
      'tree',
      'echo',
      'touch',
      'sudo',
      'env',
      'git',
      'find',
      'sed',
      'cd',
      'xargs',
      'cat.sh',
      'bash',
    )
    const word = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom(
          'a.txt',
          'src',
          'src/app.js',
          '/etc/hosts',
          'TODO',
          'it',
          'README',
          'a/b/c.d',
          '/x',
          'grep',
          'cat',
          'main',
          'x1',
          'A_b',
          'v1.2',
        ),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          '-n',
          '-la',
          '-rn',
          '-e',
          '-A',
          '3',
          '10',
          '-5',
          '--',
          '-',
          '+2',
          '-g',
          '-c',
          '-R',
          '--files',
          '-l',
          '-name',
          '-type',
        ),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '.',
          '..',
          './a',
          '../a',
          'a/',
          '/',
          '//',
          'a//b',
          '/dev/null',
          '/dev/stdin',
          '/proc/self',
          "'2,4p'",
          "'*.ts'",
          "'a b'",
          '1a',
          'a:b',
          '@x',
          '*',
          '$X',
          '>',
          '2>&1',
          '"q"',
        ),
      },
    )
    const simple = fc
      .tuple(program, fc.array(word, { maxLength: 4 }))
      .map(([name, words]) => [name, ...words].join(' '))
    const script = fc
      .array(fc.tuple(simple, fc.constantFrom(' | ', ' && ', ' ; ', ' || ', '; ')), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.map(([text, joiner], index) => (index === 0 ? text : joiner + text)).join(''))
    const command = fc
      .tuple(script, fc.constantFrom('', "/bin/bash -lc '", '/bin/bash -lc "', "sh -c '"))
      .map(([text, wrapper]) => (wrapper === '' ? text : `${wrapper}${text}${wrapper.slice(-1)}`))
    const remembered = memoized(classify)
    fc.assert(
      fc.property(
        command,
        fc.constantFrom(undefined, '/repo'),
        fc.constantFrom(undefined, 0, 1),
        (text, cwd, exitCode) => {
          const options = { ...(cwd === undefined ? {} : { cwd }), ...(exitCode === undefined ? {} : { exitCode }) }
          assert.deepEqual(remembered(text, options), classify(text, options), text)
        },
      ),
      { numRuns: 4_000, seed: 13 },
    )
  })
})
