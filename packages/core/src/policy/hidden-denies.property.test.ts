import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { PermissionRules } from '@inspan/protocol'
import { quote } from '@inspan/shell/read'
import fc from 'fast-check'
import { createPolicy, type Explained } from './index.ts'
import { shellCall, shellRules } from './policy.fixture.ts'

const DENIES = ['rm *', 'git push *', 'curl -X POST *', 'npm publish *']
/** Allows everything that can be allowed. */
const EVERYTHING: Partial<PermissionRules> = {
  tools: { execute_command: 'allow' },
  categories: { execute: 'allow', edit: 'allow', read: 'allow' },
}
const policy = createPolicy({
  rules: shellRules({ allow: ['*'], deny: DENIES }, EVERYTHING),
  cwd: '/repo',
  home: '/home/me',
})

function decide(command: string, yolo: boolean): Explained {
  return policy.decide(shellCall(command), { yolo })
}

/** A program text, and whether it is one simple command of plain words. */
interface Program {
  readonly text: string
  readonly isSimple: boolean
}

const denied = fc
  .constantFrom(
    'rm -rf x',
    'rm x',
    'git push origin main',
    'git -C a push',
    'curl -X POST u',
    'curl -XPOST u',
    'npm publish',
    '/bin/rm x',
    'r\\m x',
    '"r"m x',
    "$'\\x72m' x",
  )
  .map((text): Program => ({ text, isSimple: true }))

/** Texts made of pieces that are only joined at run time. */
const obscured = fc
  .constantFrom(
    '$X y',
    '${X:-rm} y',
    '$(echo rm) y',
    '`echo rm` y',
    'a=r; ${a}m x',
    'a=(rm x); "${a[@]}"',
    '/bin/r? x',
    '{rm,x}',
    'eval "$X"',
    'git $X',
    'rm${IFS}x',
    'alias l=rm; l x',
    'PATH=./x ls',
    "x='a[$(rm y)]'; ((x))",
  )
  .map((text): Program => ({ text, isSimple: false }))

/** Returns the words to give to a program that takes a command. */
function words({ isSimple, text }: Program): string {
  return isSimple ? text : quote(['sh', '-c', text])
}

function script({ text }: Program): string {
  return quote([text])
}

type Wrap = (inner: Program) => string

const PREFIXES: readonly Wrap[] = [
  'env',
  'env A=1',
  'timeout 5',
  'nice -n 3',
  'nohup',
  'setsid',
  'stdbuf -oL',
  'sudo -n',
  'doas',
  'xargs',
  'xargs -n1',
  'exec',
  'exec -a ls',
  'command',
  'builtin',
  'time',
  'strace -f',
  'ltrace',
  'valgrind --tool=none',
  'chroot /',
  'unshare -r',
  'nsenter -t 1 -m',
  'setpriv --reuid 1',
  'systemd-run --scope',
  'ip netns exec n',
  'firejail --quiet',
  'bwrap --bind / /',
  'proot -r /',
  'prlimit --nofile=9',
  'taskset 1',
  'chrt -i 0',
  'ionice -c3',
  'perf stat',
  'numactl -N 0',
  'fakeroot',
  'sshpass -p a',
  'busybox',
  'npx',
  'conda run -n a',
  'cross-env A=1',
  'flock l',
  'watchexec --',
  'wrapper',
  'wrapper --flag',
  'wrapper run --',
  'docker exec c',
  'docker run --rm image',
  'kubectl exec p --',
  'ssh h',
  'ssh -p 22 u@h',
  'entr',
  'parallel',
  'coproc',
  '!',
  'A=1',
  'caffeinate',
  'xvfb-run',
  'lxc exec c --',
  'tmux new',
  'screen -dm',
  'runuser -u a --',
].map((prefix) => (inner) => `${prefix} ${words(inner)}`)

const SCRIPTS: readonly Wrap[] = [
  'sh -c',
  'bash -lc',
  'dash -c',
  'eval',
  'su -c',
  'script -qc',
  'watch',
  'entr -s',
  'hyperfine',
  'nix-shell --run',
  'bun exec',
  'flock l -c',
  'ssh h',
  'wrapper',
  'wrapper -c',
  'tmux new -d',
  'docker exec c sh -c',
  'find . -exec sh -c',
  'xargs sh -c',
  'fish -c',
  'busybox sh -c',
].map((prefix) => (inner) => `${prefix} ${script(inner)}`)

const COMPOUNDS: readonly Wrap[] = [
  ({ text }) => `true && ${text}`,
  ({ text }) => `false || ${text}`,
  ({ text }) => `ls; ${text}`,
  ({ text }) => `ls\n${text}`,
  ({ text }) => `ls & ${text}`,
  ({ text }) => `ls | { ${text}\n}`,
  ({ text }) => `( ${text} )`,
  ({ text }) => `{ ${text}\n}`,
  ({ text }) => `if true; then ${text}\nfi`,
  ({ text }) => `while ${text}\ndo ls; done`,
  ({ text }) => `for i in a b; do ${text}\ndone`,
  ({ text }) => `case a in a) ${text}\n;; esac`,
  ({ text }) => `f() { ${text}\n}; f`,
  ({ text }) => `ls() { ${text}\n}; ls`,
  ({ text }) => `echo "$(${text}\n)"`,
  ({ text }) => `cat <(${text}\n)`,
  ({ text }) => `ls > >(${text}\n)`,
  ({ text }) => `x=$(${text}\n)`,
  ({ text }) => `echo \${x:-$(${text}\n)}`,
  ({ text }) => `[[ -n $(${text}\n) ]]`,
  ({ text }) => `trap ${quote([text])} EXIT`,
]

const INPUTS: readonly Wrap[] = [
  ...[
    'sh',
    'bash -s',
    'ssh h',
    'docker exec -i c sh',
    'kubectl exec -i p -- bash',
    'nc h 1',
    'at now',
    'crontab -',
    'parallel',
    'sudo -S sh',
    'python3',
  ].flatMap((reader): Wrap[] => [
    (inner) => `echo ${script(inner)} | ${reader}`,
    (inner) => `printf %s ${script(inner)} | timeout 5 ${reader}`,
    (inner) => `cat ${script(inner)} | { ${reader}; }`,
    () => `${reader} < script`,
  ]),
  ...['sh', 'ssh h', 'bash', 'docker exec -i c sh'].map(
    (reader): Wrap =>
      ({ text }) =>
        `${reader} <<'END'\n${text}\nEND`,
  ),
  ({ text }) => `python3 -c ${quote([`import os; os.system(${JSON.stringify(text)})`])}`,
  ({ text }) => `python3 - <<'END'\nimport subprocess\nsubprocess.run(${JSON.stringify(text)}, shell=True)\nEND`,
  ({ text }) => `node -e ${quote([`require('child_process').execSync(${JSON.stringify(text)})`])}`,
  ({ text }) => `perl -e ${quote([`system(${JSON.stringify(text)})`])}`,
  ({ text }) => `git -c alias.x=${quote([`!${text}`])} x`,
  ({ text }) => `GIT_PAGER=${quote([text])} git log`,
  ({ text }) => `awk ${quote([`BEGIN{system(${JSON.stringify(text)})}`])}`,
  ({ text }) => `sed ${quote([`1e ${text}`])} f`,
  ({ text }) => `tar cf a b --checkpoint-action=exec=${quote([text])}`,
  ({ text }) => `sqlite3 db ${quote([`.shell ${text}`])}`,
  ({ text }) => `psql -c ${quote([`\\! ${text}`])}`,
  ({ text }) => `gdb -batch -ex ${quote([`shell ${text}`])}`,
  ({ text }) => `vim -c ${quote([`!${text}`])} f`,
]

const wrap = fc.constantFrom(...PREFIXES, ...SCRIPTS, ...COMPOUNDS, ...INPUTS)
const hidden = fc
  .tuple(fc.oneof({ weight: 3, arbitrary: denied }, obscured), fc.array(wrap, { maxLength: 5 }))
  .map(
    ([program, wraps]) =>
      wraps.reduce((inner, each): Program => ({ text: each(inner), isSimple: false }), program).text,
  )

suite('a denied command, however it is hidden,', () => {
  test('is never allowed, not under yolo either', () => {
    fc.assert(
      fc.property(hidden, fc.boolean(), (text, yolo) => {
        const decided = decide(text, yolo)
        assert.notEqual(decided.policy, 'allow', `${text}\n${decided.reason}`)
      }),
      { numRuns: 2_000 },
    )
  })

  test('is not allowed by the rule of the launcher alone', () => {
    const launchers = [...PREFIXES, ...SCRIPTS].map(
      (each) => each({ text: 'rm x', isSimple: true }).split(' ')[0] ?? '',
    )
    const names = [...new Set(launchers)].filter(
      (name) => /^[a-z]/.test(name) && !/^(?:ssh|docker|kubectl|wrapper|coproc)$/.test(name),
    )
    const narrow = createPolicy({ rules: shellRules({ allow: names.map((name) => `${name} *`) }), cwd: '/repo' })
    const launch = fc.constantFrom(
      ...[...PREFIXES, ...SCRIPTS].filter((each) => {
        const [first = ''] = each({ text: 'rm x', isSimple: true }).split(' ')
        return names.includes(first)
      }),
    )
    const launched = fc
      .tuple(denied, fc.array(launch, { minLength: 1, maxLength: 3 }))
      .map(
        ([program, wraps]) =>
          wraps.reduce((inner, each): Program => ({ text: each(inner), isSimple: false }), program).text,
      )
    fc.assert(
      fc.property(launched, (text) => {
        const decided = narrow.decide(shellCall(text), {})
        assert.equal(decided.policy, 'ask', `${text}\n${decided.reason}`)
      }),
      { numRuns: 2_000 },
    )
  })
})

suite('what cannot be parsed', () => {
  const BROKEN = ['"', "'", '$(', '`', '${', ')', '|', '&&', '((', '<(', ';;']
  test('is never allowed, whatever surrounds it', () => {
    const open = createPolicy({ rules: shellRules({ allow: ['*'] }, EVERYTHING), cwd: '/repo' })
    fc.assert(
      fc.property(fc.constantFrom('ls', 'echo a', 'git log', 'cat f'), fc.constantFrom(...BROKEN), (text, broken) => {
        for (const command of [`${text} ${broken}`, `${broken} ${text}`, `sh -c ${quote([`${text} ${broken}`])}`]) {
          const decided = open.decide(shellCall(command), {})
          assert.equal(decided.policy, 'ask', `${command}\n${decided.reason}`)
          assert.notEqual(decide(`${command}; rm x`, true).policy, 'allow', command)
        }
      }),
      { numRuns: 200 },
    )
  })
})

test('every decision about a command names the part and the rule it comes from', () => {
  const someRules = fc.record({
    patterns: fc.array(
      fc.record({
        tool: fc.constant('execute_command'),
        pattern: fc.constantFrom('rm *', 'git push *', 'ls *', 'ssh *', 'make *', 'echo *', '*'),
        policy: fc.constantFrom('allow', 'ask', 'deny'),
      }),
      { maxLength: 4 },
    ),
    categories: fc.dictionary(fc.constantFrom('edit', 'execute'), fc.constantFrom('allow', 'ask', 'deny'), {
      noNullPrototype: true,
    }),
    tools: fc.dictionary(fc.constant('execute_command'), fc.constantFrom('allow', 'ask', 'deny'), {
      noNullPrototype: true,
    }),
  }) as fc.Arbitrary<PermissionRules>
  const command = fc.oneof(hidden, fc.constantFrom('ls', 'make', 'echo a > b', 'ls "', 'git status', 'ls && make', ''))
  fc.assert(
    fc.property(someRules, command, fc.boolean(), (rules, text, yolo) => {
      const decided = createPolicy({ rules, cwd: '/repo' }).decide(shellCall(text), { yolo })
      const { level, part, reason, rule, step } = decided
      const about = `${text}: ${JSON.stringify(decided)}`
      assert.ok(reason !== '' && !reason.includes('\n'), about)
      switch (step) {
        case 'pattern':
          assert.ok(
            rule !== undefined && level !== undefined && part !== undefined && reason.includes('the rule'),
            about,
          )
          break
        case 'deny':
        case 'tool':
        case 'category':
          assert.ok(rule !== undefined && level !== undefined && reason.includes(rule), about)
          break
        case 'unreadable':
          assert.ok(part !== undefined && /the rule|no rule allows .* because/.test(reason), about)
          break
        case 'default':
          assert.ok(part !== undefined && reason.includes('no rule allows'), about)
          break
        default:
          assert.equal(step, 'yolo', about)
      }
    }),
    { numRuns: 1_500 },
  )
})
