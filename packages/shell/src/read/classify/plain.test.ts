import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { suspiciousCharacters } from '../characters.ts'
import { classify, classifyRead } from './classify.ts'
import { classifyPlain } from './plain.ts'

function told(text: string): boolean | null {
  return classifyPlain(text, '/repo', { operations: [], producers: 0, last: '', isEither: false })
}

function quotedIn(way: string, text: string): string {
  if (way === 'single') return `'${text.replaceAll("'", `'"'"'`)}'`
  if (way === 'double') return `"${text.replace(/[\\"]/g, '\\$&')}"`
  return way === 'raw' ? `"${text}"` : text
}

describe('plain commands', () => {
  it('are recognised without the parser', () => {
    for (const text of [
      'cat a.txt',
      "/bin/bash -lc 'cat a.txt'",
      `/bin/bash -lc "sed -n '1,200p' src/index.ts"`,
      `bash -c "grep -n \\"it's\\" a.txt || true"`,
      "cd src && rg -n 'a = b' . | head -20",
      'ls -la src 2>/dev/null; cat b 2>&1',
      'find . -name "*.ts" -not -path "./.git/*"',
      'wc -l < a.txt',
      'cat a; true; cat b;',
      `/bin/bash -lc "cat 'a.txt' \\"b.txt\\""`,
      `bash -lc 'cat a'".txt"`,
      `bash -c "sh -c 'cat a.txt'"`,
      'zsh -lc ls',
      '/bin/cat a.txt',
      `'cat' a.txt`,
      'cat ünï/日本.txt',
      `grep -rn "größer" src/한국어`,
    ]) {
      assert.equal(told(text), true, text)
      assert.notEqual(classify(text), null, text)
    }
  })

  it('stay commands as soon as one word settles it, whatever follows', () => {
    for (const text of [
      'npm test -- $(cat a)',
      'for i in $(seq 1 3); do cat $i; done',
      'echo hi',
      'cat a && make "$X"',
      "cat <<'EOF' > a.txt\nx\nEOF",
      'cat a > b',
      'cat a & cat b',
      'sh -c "node x.js"',
      './cat a',
      'make\ncat a',
      'cat a > b\ncat a',
      `bash -lc "echo \\"a b\\" $X"`,
      `bash -lc 'echo '"it's"' $X | cat a'`,
      `echo'x' a`,
      `bash -lc 'make x`,
      '(cd src; ls b)',
      "bash -lc '(cat a) && cat b'",
      '((cat a))',
      'X=..; cd "$X"; cat a',
      "bash -lc 'cat a && X=b && cat $X'",
    ]) {
      assert.equal(told(text), false, text)
      assert.equal(classifyRead(text), null, text)
    }
  })

  it('are nothing else: those are read in full', () => {
    for (const text of [
      'cat $X',
      'cat *.ts',
      'cat ~/a',
      'cat a\\ b',
      'X=1 cat a',
      'cat "$(ls)"',
      'cat a # b',
      'cat {a,b}',
      'time cat a',
      'env cat a',
      'case x in esac; cat a',
      './bash -c "cat a"',
      'bash -c -- "cat a"',
      "bash -c '-x' 'cat a'",
      `bash -c '-x a' 'cat a'`,
      `bash -c 'cat a' x`,
      `bash -c 'X=1 cat a'`,
      `bash -c "cat $X"`,
      `bash -c "cat 'a'`,
      `sh -c "bash -c 'sh -c \\"cat a\\"'"`,
      `bash -lc 'make' 'cat a'`,
      'cd a || cat b',
      'cat a\ncat b',
      'cat a |& head',
      "cat 'a",
      'cat a |',
      '2>&1',
      'cat <(ls)',
      "cat 'a\u0007b'",
      'cat 🙂',
    ]) {
      assert.equal(told(text), null, text)
    }
  })
})

describe('telling without the parser', () => {
  const words = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom(
        ...'a.txt src src/app.js /etc/hosts TODO 3 10 a/b/c.d ../up ./here .hidden a// v1.2 /dev/null'.split(' '),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        ...'-n -la -rn -e -A -5 -- - +2 -g -c -R --files -l -name -type -exec -x -i -s -c -lc --pre --color=never a=b -f'.split(
          ' ',
        ),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        `'2,4p'`,
        `'$p;5q'`,
        `'*.ts'`,
        `'a b'`,
        `"a b"`,
        `"it's"`,
        `"q\\"x"`,
        `"a\\nb"`,
        `'w out'`,
        `a'b'"c"d`,
        `''`,
        `'1d'`,
        `"x = y"`,
        `'s/a/b/w f'`,
      ),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        '2>&1',
        '>/dev/null',
        '2>/dev/null',
        '> out',
        '< in',
        '>>x',
        '>&2',
        '1>&2',
        '3< in',
        '&>/dev/null',
        '<<<x',
        '>|x',
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '$X',
        '*',
        '`x`',
        '$(x)',
        '#',
        '!',
        '~',
        '{a,b}',
        '\\',
        '(',
        ')',
        '[',
        '"$X"',
        'é',
        '\u200b',
        '"',
        "'",
      ),
    },
  )
  const program = fc.constantFrom(
    ...(
      'cat sed head tail nl wc less bat tac rg grep egrep ag ack git find fd ls tree dir cd pwd true : set echo printf sort uniq cut tr jq awk ' +
      'bash sh zsh env timeout time command sudo xargs watch exec npm make case for if function ./cat /bin/cat /usr/bin/bash /opt/cat /bin/cd x1 2 a=.. 1=b'
    ).split(' '),
  )
  const simple = fc.tuple(program, fc.array(words, { maxLength: 4 })).map(([name, args]) => [name, ...args].join(' '))
  const joint = fc.constantFrom(' | ', ' && ', ' ; ', ' || ', '; ', ';', '|', '&&', ' & ', '\n', ' ')
  const script = fc
    .tuple(simple, fc.array(fc.tuple(joint, simple), { maxLength: 3 }), fc.constantFrom('', '', '', ';', ' ', ' |'))
    .map(([first, more, end]) => first + more.flat().join('') + end)
  const wrapped = fc
    .tuple(
      script,
      fc.constantFrom(
        ['', ''],
        ['(', ')'],
        ["sh -c '( ", " )'"],
        ["/bin/bash -lc '", "'"],
        ['bash -c "', '"'],
        ["sh -c '", "' x"],
        ["./bash -c '", "'"],
      ),
    )
    .map(([text, [before, after]]) => `${before}${text}${after}`)
  /** A script as one word of a shell, cut into pieces with different quoting. */
  const quotedScript = fc
    .tuple(script, fc.array(fc.tuple(fc.nat(40), fc.constantFrom('single', 'double', 'raw', 'bare')), { maxLength: 3 }))
    .map(([text, cuts]) => {
      let rest = text
      let word = ''
      for (const [length, way] of cuts) {
        word += quotedIn(way, rest.slice(0, length))
        rest = rest.slice(length)
      }
      return word + quotedIn('double', rest)
    })
  const shell = fc.constantFrom(
    '/bin/bash -lc ',
    'bash -c ',
    '/usr/bin/sh -c ',
    './bash -c ',
    '/opt/zsh -lc ',
    'bash -l ',
  )
  const quotedShell = fc.tuple(shell, quotedScript).map(([before, word]) => before + word)
  const nestedShell = fc.tuple(shell, quotedShell).map(([before, text]) => `${before}${quotedIn('double', text)}`)
  const options = fc.record(
    { cwd: fc.constantFrom('/repo', '/repo/../x', 'rel', '/'), exitCode: fc.constantFrom(0, 1, 2) },
    { requiredKeys: [] },
  )

  it('gives what a full reading gives', () => {
    let withoutParser = 0
    fc.assert(
      fc.property(fc.oneof(wrapped, quotedShell, nestedShell, script, simple), options, (text, given) => {
        if (told(text) === true) withoutParser += 1
        assert.deepEqual(classify(text, given), classifyRead(text, given), text)
      }),
      { numRuns: 16_000, seed: 17 },
    )
    assert.ok(withoutParser > 500, `${withoutParser} were told to be operations`)
  })

  it('finds the same for every character there is, and nothing for one that deceives', () => {
    for (let code = 1; code < 0x1_0000; code += 1) {
      const character = String.fromCharCode(code)
      for (const text of [`cat a${character}b`, `cat "${character}"`]) {
        if (told(text) !== null) assert.deepEqual(classify(text), classifyRead(text), `${text} ${code}`)
        if (told(text) === true) assert.deepEqual(suspiciousCharacters(text), [], `${text} ${code}`)
      }
    }
  })

  it('gives the same for any pieces', () => {
    const pieces = fc.constantFrom(
      ...'cat ls rg \'x\' "y" a.b | && || ; > < 2>&1 & $ ` \\ ( ) { } * ? [ ] ~ ! # = - / \n \t é'.split(' '),
      ' ',
      ' ',
      ' ',
    )
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 14 }).map((list) => list.join('')),
        (text) => {
          assert.deepEqual(classify(text), classifyRead(text), text)
        },
      ),
      { numRuns: 12_000, seed: 17 },
    )
  })
})
