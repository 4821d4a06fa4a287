import { TOOL_WRAPPERS } from './tool-wrappers.ts'
import { wrapper } from './wrapper.ts'
import type { Wrapper } from './wrapper.ts'

// Options that write a file (`time -o`, `strace -o`) are missing on purpose, so that they are "not understood".
const TIMEOUT = wrapper('-k: -s: -v -p -f --kill-after: --signal: --verbose --foreground --preserve-status', {
  operands: 1,
})
const TIME = wrapper('-p -v -q -f: --format: --portability --verbose --quiet')
const XARGS = wrapper(
  '-0 -r -t -p -x -o -a: -d: -E: -e? -I: -i? -L: -l? -n: -P: -s: --null --no-run-if-empty --verbose --interactive --exit ' +
    '--open-tty --arg-file: --delimiter: --eof? --replace? --max-lines? --max-args: --max-procs: --max-chars: ' +
    '--process-slot-var: --show-limits',
  { launcher: 'items' },
)
const RUN_AS = wrapper('', { launcher: 'elevated', operands: 1 })
const PACKAGE_BINARY = wrapper('-y -q --yes --quiet -p: --package: --bun --silent', { launcher: 'runner' })

/** By the name of the program, or by program and subcommand. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  [
    'env',
    wrapper(
      '-i -0 -v -u: -C: --ignore-environment --null --debug --unset: --chdir: --block-signal? --default-signal? ' +
        '--ignore-signal? --list-signal-handling',
      { assignments: true, directory: ['-C', '--chdir'] },
    ),
  ],
  ['timeout', TIMEOUT],
  ['gtimeout', TIMEOUT],
  ['time', TIME],
  ['gtime', TIME],
  ['nice', wrapper('-n: --adjustment:', { digits: true })],
  ['nohup', wrapper('')],
  ['noglob', wrapper('')],
  ['nocorrect', wrapper('')],
  ['setsid', wrapper('-c -f -w --ctty --fork --wait')],
  ['ionice', wrapper('-c: -n: -t -p: -P: -u: --class: --classdata: --ignore', { reports: ['-p', '-P', '-u'] })],
  ['stdbuf', wrapper('-i: -o: -e: --input: --output: --error:')],
  ['unbuffer', wrapper('-p')],
  ['command', wrapper('-p -v -V', { reports: ['-v', '-V'] })],
  ['builtin', wrapper('')],
  ['exec', wrapper('-c -l -a:')],
  ['taskset', wrapper('-a -c -p --all-tasks --cpu-list --pid', { operands: 1, reports: ['-p', '--pid'] })],
  [
    'chrt',
    wrapper('-b -f -i -o -r -R -a -m -p -v --batch --fifo --idle --other --rr --reset-on-fork --max --pid', {
      operands: 1,
      reports: ['-m', '-p', '--max', '--pid'],
    }),
  ],
  ['caffeinate', wrapper('-d -i -m -s -u -t: -w:')],
  [
    'xvfb-run',
    wrapper(
      '-a -l -n: -p: -s: -w: --auto-servernum --listen-tcp --server-num: --xauth-protocol: --server-args: --wait:',
    ),
  ],
  ['dbus-run-session', wrapper('')],
  [
    'strace',
    wrapper(
      '-f -F -q -v -t -r -T -y -c -C -d -i -k -n -w -x -z -Z -e: -s: -a: -b: -I: -S: -P: -X: --follow-forks --quiet --summary-only',
    ),
  ],
  ['busybox', wrapper('--list', { reports: ['--list'] })],
  ['toybox', wrapper('--long')],

  [
    'sudo',
    wrapper(
      '-A -b -B -E -H -k -K -l -n -N -P -S -v -V -u: -g: -h: -p: -C: -T: -r: -t: -U: -D: -R: --user: --group: --preserve-env? ' +
        '--non-interactive --stdin --set-home --background --reset-timestamp --remove-timestamp --list --validate ' +
        '--prompt: --host: --chdir: --chroot:',
      {
        launcher: 'elevated',
        assignments: true,
        reports: ['-K', '-l', '-v', '-V', '--remove-timestamp', '--list', '--validate'],
        directory: ['-D', '--chdir'],
      },
    ),
  ],
  ['doas', wrapper('-n -u:', { launcher: 'elevated' })],
  ['pkexec', wrapper('--user: --disable-internal-agent', { launcher: 'elevated', moves: true })],
  ['gosu', RUN_AS],
  ['su-exec', RUN_AS],

  ['chroot', wrapper('--groups: --userspec: --skip-chdir', { launcher: 'elsewhere', operands: 1, moves: true })],
  [
    'unshare',
    wrapper(
      '-m? -u? -i? -n? -p? -U? -C? -T? -f -r -c -R: -w: -S: -G: --mount? --uts? --ipc? --net? --pid? --user? --cgroup? --time? --fork --map-root-user --map-current-user --kill-child? --mount-proc? --root: --wd:',
      {
        launcher: 'elsewhere',
        moves: true,
      },
    ),
  ],
  [
    'nsenter',
    wrapper(
      '-a -t: -m? -u? -i? -n? -p? -C? -U? -T? -S: -G: -r? -w? -F -Z --all --target: --mount? --uts? --ipc? --net? --pid? --cgroup? --user? --time? --setuid: --setgid: --preserve-credentials --root? --wd? --no-fork',
      {
        launcher: 'elsewhere',
        moves: true,
      },
    ),
  ],

  ['xargs', XARGS],
  ['gxargs', XARGS],

  ['npx', PACKAGE_BINARY],
  ['bunx', PACKAGE_BINARY],
  ['pnpx', PACKAGE_BINARY],
  ['uvx', wrapper('-q --quiet --from: --with: --python:', { launcher: 'runner' })],
  ['npm exec', PACKAGE_BINARY],
  ['npm x', { ...PACKAGE_BINARY, launcher: 'tool' }],
  ['pnpm exec', wrapper('-r --recursive', { launcher: 'runner' })],
  ['pnpm dlx', PACKAGE_BINARY],
  ['yarn exec', wrapper('', { launcher: 'runner' })],
  ['yarn dlx', PACKAGE_BINARY],
  [
    'uv run',
    wrapper(
      '-q --quiet --with: --python: -p: --frozen --locked --no-sync --extra: --group: --dev --no-dev --isolated',
      { launcher: 'runner' },
    ),
  ],
  ['poetry run', wrapper('', { launcher: 'runner' })],
  ['pipenv run', wrapper('', { launcher: 'runner' })],
  ['pdm run', wrapper('', { launcher: 'runner' })],
  ['rye run', wrapper('', { launcher: 'runner' })],
  ['hatch run', wrapper('', { launcher: 'runner' })],
  ['pipx run', wrapper('--spec:', { launcher: 'runner' })],
  ['bundle exec', wrapper('--keep-file-descriptors', { launcher: 'runner' })],
  ['mise exec', wrapper('', { launcher: 'runner' })],
  ['asdf exec', wrapper('', { launcher: 'runner' })],
  ['direnv exec', wrapper('', { launcher: 'runner', operands: 1, moves: true })],

  ...TOOL_WRAPPERS,
])

/** Programs that change nothing about what they run. */
export const transparentWrapperNames: readonly string[] = [
  ...[...WRAPPERS].filter(([, { launcher }]) => launcher === 'transparent').map(([name]) => name),
  'watch',
  'flock',
]
