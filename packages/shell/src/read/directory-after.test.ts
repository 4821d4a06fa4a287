import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { classify, directoryAfter } from './index.ts'

describe('where a shell is after a command that has succeeded', () => {
  const table: readonly (readonly [text: string, expected: string | null])[] = [
    ['ls', '/repo'],
    ['echo "a cd"', '/repo'],
    ['cd src', '/repo/src'],
    ['cd src # there', '/repo/src'],
    ['cd src && ls', '/repo/src'],
    ['cd src; ls', '/repo/src'],
    ['cd ünï; true', '/repo/ünï'],
    ['cd src && npm test 2>&1 | tail -5', '/repo/src'],
    ['make && cd src', '/repo/src'],
    ['cd src\ncat <<END\ncd other\nEND', '/repo/src'],
    ['cd a && cd ../b', '/repo/b'],
    ['cd /tmp/x', '/tmp/x'],
    ['cd ./a/../b/ && ls', '/repo/b'],
    ['cd -P src && ls', '/repo/src'],
    ['cd .. && cat <<END\n&& cd x\nEND', '/'],
    ['cd a && ls || true', null],
    ['cd a && make &', '/repo'],
    ['cd a && make 2>&1 && ls &> /dev/null', '/repo/a'],
    ['cd a && ls\nexit 0', '/repo'],
    ['pushd src > /dev/null', '/repo/src'],
    ['(cd src && make)', '/repo'],
    ['(cd src; ls)', '/repo'],
    ['(cd src || ls)', null],
    ['(cd src) && cd a', '/repo/a'],
    ['cd src | cat', '/repo'],
    ['bash -c "cd src"', '/repo'],
    // The shell exits before its directory is kept.
    ['cd /; exit 0', '/repo'],
    ['cd / && exit 1 now', '/repo'],
    ['cd /tmp; exit $(cd src)', '/repo'],
    ['cd src && exec true', '/repo'],
    ['cd src; if x; then exit 0; fi', null],
    ['cd "$there"', null],
    ['there=..; cd "$there"; cat a.txt', null],
    ['there=..; cd $there && cat a.txt', null],
    ['if test; then ls; cd "$there"; fi', null],
    ['cd "$there"; cd /tmp/x; ls', '/tmp/x'],
    ['cd "$there"; exit 1', '/repo'],
    ['echo "; cd $there; "', '/repo'],
    ['coproc if test; then ls; cd "$there"; fi', '/repo'],
    ['cd "$there" &', '/repo'],
    ['cd -', null],
    ['popd', null],
    ['cd', null],
    ['cd ~/x', null],
    ['cd a || cd b', null],
    ['cd a || true', null],
    ['cd a && ls || true', null],
    ['cd a; ls &', '/repo/a'],
    ['cd a b', null],
    ['! cd a', null],
    ['for x in a b; do cd $x; done', null],
    ['cd src \\', null],
    ['cd "src', null],
  ]
  for (const [text, expected] of table) {
    it(JSON.stringify(text), () => assert.equal(directoryAfter(text, '/repo'), expected))
  }

  it('from wherever it began, whatever was asked before', () => {
    const text = String.raw`cd a\ b && ls .`
    for (const cwd of ['/repo', '/other', '/repo']) {
      assert.deepEqual(classify(text, { cwd }), [{ kind: 'list', path: `${cwd}/a b` }])
      assert.equal(directoryAfter(text, cwd), `${cwd}/a b`)
    }
    assert.deepEqual([directoryAfter(text, undefined), directoryAfter('cd "c"', '/repo')], [null, '/repo/c'])
  })

  it('without knowing where it began', () => {
    assert.equal(directoryAfter('ls', undefined), null)
    assert.equal(directoryAfter('cd src', undefined), null)
    assert.equal(directoryAfter('cd src', 'somewhere'), null)
    assert.equal(directoryAfter('cd /tmp/x && ls', undefined), '/tmp/x')
  })
})
