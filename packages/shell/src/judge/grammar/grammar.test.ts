import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readPlainScript } from './grammar.ts'

function wordsOf(text: string): string[][] {
  const read = readPlainScript(text)
  assert.ok(read.ok, text)
  return read.commands.map(({ assigned, words }) => [
    ...assigned.map((name) => `${name}=`),
    ...words.map((word) => word.text),
  ])
}

suite('the grammar that every shell reads alike', () => {
  test('has the words that a program gets', () => {
    assert.deepEqual(wordsOf('ls -la'), [['ls', '-la']])
    assert.deepEqual(wordsOf(`echo 'a  b' "c $x" d\\;e "f\\"g" h"i"'j'`), [
      ['echo', 'a  b', 'c $x', 'd;e', 'f"g', 'hij'],
    ])
    assert.deepEqual(wordsOf('A=1 B="x y" env'), [['A=', 'B=', 'env']])
    assert.deepEqual(wordsOf('a | b && c || d; e & f\ng'), [['a'], ['b'], ['c'], ['d'], ['e'], ['f'], ['g']])
    assert.deepEqual(wordsOf('a \\\n  b # c\nd'), [['a', 'b'], ['d']])
    assert.deepEqual(wordsOf('echo "$(a "b c")" $(d)'), [['a', 'b c'], ['d'], ['echo', '$(a "b c")', '$(d)']])
    assert.deepEqual(wordsOf("cat <<'E' | wc\n$(id)\nE\nls"), [['cat'], ['wc'], ['ls']])
    assert.deepEqual(wordsOf('if a; then b; elif c; then d; else e; fi'), [['a'], ['b'], ['c'], ['d'], ['e']])
    assert.deepEqual(wordsOf('for x in 1 2; do (a; { b; }) < f; done 2>&1'), [['a'], ['b']])
    assert.deepEqual(wordsOf('while read -r l; do echo "$l"; done < f'), [
      ['read', '-r', 'l'],
      ['echo', '$l'],
    ])
  })

  test('knows which words are decided when the command runs', () => {
    const read = readPlainScript('a b "$x" *.ts "*.ts" ~/x HEAD~1 [ab] stash@{0} d/{a,b} \\$x')
    assert.ok(read.ok)
    const expanding = read.commands[0]?.words.filter(({ expands }) => expands).map(({ text }) => text)
    assert.deepEqual(expanding, ['$x', '*.ts', '~/x', '[ab]', 'd/{a,b}'])
  })

  test('ends before whatever shells read in their own way', () => {
    const outside = [
      ...['${x:-y}', '$((1))', '$[1]', "$'a'", '$"a"', '`a`', '"`a`"', '${!x}', '$@', '{-a,b}', '~root', '=a'].map(
        (word) => `echo ${word}`,
      ),
      'a |& b',
      'a &> f',
      'a >| f',
      'a <> f',
      'cat <<< x',
      'cat <<-E\nE',
      'cat <(a)',
      'a >&f',
      'a 12>f',
      'a 2>&-',
      'case a in a) b;; esac',
      'f() { a; }',
      '[[ a ]]',
      '((a))',
      'a=(b)',
      'a[1]=b',
      'a+=b',
      'eval a',
      'exec a',
      'set -k',
      'set -- a',
      'PATH=x',
      'PATH=x ls',
      'export PATH=x',
      'export "PATH"=x',
      'read PATH',
      "read 'PATH'",
      'time export PATH=x',
      'time export "PATH"=x',
      'time eval a',
      'for IFS in a; do b; done',
      '$x a',
      '"$x"',
      'a "',
      "a '",
      'a $(b',
      '(a',
      'a)',
      'if a; then b',
      'a;;b',
      'a &&',
      'cat <<E\nx',
      'cat <<E\n$x\nE',
      'a\r',
      'a\0b',
      'do',
      '}',
    ]
    assert.deepEqual(
      outside.filter((text) => readPlainScript(text).ok),
      [],
    )
  })
})
