import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readCommand } from './read-command.ts'

function unknowns(text: string): readonly string[] {
  const reading = readCommand(text)
  assert.ok(reading.ok, text)
  return reading.commands.flatMap(({ unknown }) => (unknown === null ? [] : [unknown]))
}

function suspicious(text: string): readonly string[] {
  const reading = readCommand(text)
  assert.ok(reading.ok, text)
  return reading.suspicious
}

function programs(text: string): readonly (string | null)[] {
  const reading = readCommand(text)
  assert.ok(reading.ok, text)
  return reading.commands.map(({ program }) => program)
}

describe('variables that decide what runs', () => {
  for (const text of [
    'for PATH in ./x; do git log; done',
    'for PATH; do git log; done',
    'select PATH in ./x; do git log; done',
    'coproc PATH { git log; }',
    '((PATH=1)); ls',
    '((a, PATH += 2)); ls',
    '((PATH++)); ls',
    '((--PATH)); ls',
    'ls $((PATH=1))',
    'for ((PATH=1; PATH<2; )); do ls; done',
    ': ${PATH:=x}; ls',
    'ls "${PATH=x}"',
    'read PATH',
    'read -r a PATH',
    'read -a PATH',
    'printf -v PATH x',
    'printf -vPATH x',
    'mapfile -t PATH',
    'readarray PATH',
    'getopts ab PATH',
    'wait -n -p PATH',
    'unset PATH',
    'let PATH=1',
    'let "PATH = 1"',
    'declare "PATH=x"',
    'export "LD_PRELOAD=x.so"',
    'exec {PATH}> x',
  ]) {
    it(`are seen to be set: ${text}`, () => {
      assert.equal(unknowns(text).length, 1)
      assert.match(unknowns(text)[0] ?? '', /(?:PATH|LD_PRELOAD).* decides? which program or code runs/)
    })
  }

  for (const text of [
    'read "$x"',
    'printf -v $x y',
    'mapfile $x',
    'getopts ab "$x"',
    'declare "$x"',
    'read --what PATH',
  ]) {
    it(`may be set where the name is not known: ${text}`, () => {
      assert.equal(unknowns(text).length, 1)
    })
  }

  for (const text of [
    'for x in a; do ls; done',
    '((x = 1, y == 2))',
    'echo ${PATH:-x} ${x:=y} $((PATH + 1))',
    'read -r -p "a $b" x y',
    'printf "%s" "$x"',
    'printf -v x y',
    'mapfile -t lines',
    'getopts ab opt',
    'declare -i x=1',
    'export PATH A=$B',
    'let x=1',
    'test -v x',
    '[ "$a" -eq 1 ]',
  ]) {
    it(`are not touched by ${text}`, () => {
      assert.deepEqual(unknowns(text), [])
    })
  }
})

describe('text that is evaluated', () => {
  for (const text of [
    '[[ x -eq $(id) ]]',
    '[[ -v a[$(id)] ]]',
    '[ -v "a[$(id)]" ]',
    'test -v "a[$(id)]"',
    'echo ${a[$(id)]}',
    'a[$(id)]=1',
    'echo ${!a[$(id)]}',
  ]) {
    it(`runs the command in it: ${text}`, () => {
      assert.ok(programs(text).includes('id'))
    })
  }

  for (const text of [
    "test -v 'a[$(id)]'",
    "[ -v 'a[$(id)]' ]",
    "unset 'a[$(id)]'",
    "read 'a[$(id)]'",
    "printf -v 'a[$(id)]' x",
    "let 'a[$(id)]=1'",
  ]) {
    it(`is not known: ${text}`, () => {
      assert.equal(unknowns(text).length, 1)
    })
  }

  for (const use of [
    '((x))',
    '[[ $x -eq 0 ]]',
    '[[ -v $x ]]',
    'echo ${!x}',
    'echo ${a[x]}',
    'a[x]=1',
    'echo ${a:x}',
    'let x',
  ]) {
    it(`may be what stands quoted in a variable: ${use}`, () => {
      assert.deepEqual(suspicious(`x='a[$(id)]'; ${use}`), ['arithmetic beside a quoted command substitution'])
      assert.deepEqual(suspicious(`x=1; ${use}`), [])
    })
  }

  it('may appear quoted in the very test', () => {
    assert.deepEqual(suspicious("[[ 'a[$(id)]' -eq 0 ]]"), ['arithmetic beside a quoted command substitution'])
    assert.deepEqual(suspicious("[[ -v 'a[$(id)]' ]]"), ['arithmetic beside a quoted command substitution'])
  })
})
