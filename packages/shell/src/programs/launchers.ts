import type { Launcher } from '../read/reading.ts'
import { optionTable, type OptionTable } from './options.ts'

/** A program whose operands are another command. */
export interface Wrapper {
  readonly options: OptionTable
  readonly launcher: Launcher
  /** How many operands come before the command, such as the duration of `timeout`. */
  readonly operands: number
  /** `NAME=value` may come before the command. */
  readonly assignments: boolean
  /** Options with which it only reports something. */
  readonly reports: readonly string[]
  /** Options that name the directory to run in. */
  readonly directory: readonly string[]
  /** The command runs in an unknown directory. */
  readonly moves: boolean
  /** Every word with a leading dash is an option, with its value attached. */
  readonly anyOptions: boolean
}

/**
 * Programs, or programs and subcommands, that run another program: names | what it is to what it runs, and settings |
 * options. Options that write a file (`time -o`, `strace -o`) are missing on purpose, so that they are "not understood".
 * A `tool` watches, limits or confines what it runs, and needs permission of its own as well.
 */
const LAUNCHERS = `
env | transparent assignments directory=-C,--chdir |
  -i -0 -v -u: -C: --ignore-environment --null --debug --unset: --chdir: --block-signal? --default-signal?
  --ignore-signal? --list-signal-handling
timeout, gtimeout | transparent operands=1 |
  -k: -s: -v -p -f --kill-after: --signal: --verbose --foreground --preserve-status
time, gtime | transparent | -p -v -q -f: --format: --portability --verbose --quiet
nice | transparent digits | -n: --adjustment:
nohup, noglob, nocorrect, builtin, dbus-run-session | transparent |
setsid | transparent | -c -f -w --ctty --fork --wait
ionice | transparent reports=-p,-P,-u | -c: -n: -t -p: -P: -u: --class: --classdata: --ignore
stdbuf | transparent | -i: -o: -e: --input: --output: --error:
unbuffer | transparent | -p
command | transparent reports=-v,-V | -p -v -V
exec | transparent | -c -l -a:
taskset | transparent operands=1 reports=-p,--pid | -a -c -p --all-tasks --cpu-list --pid
chrt | transparent operands=1 reports=-m,-p,--max,--pid |
  -b -f -i -o -r -R -a -m -p -v --batch --fifo --idle --other --rr --reset-on-fork --max --pid
caffeinate | transparent | -d -i -m -s -u -t: -w:
xvfb-run | transparent |
  -a -l -n: -p: -w: --auto-servernum --listen-tcp --server-num: --xauth-protocol: --wait:
strace | transparent |
  -f -F -q -v -t -r -T -y -c -C -d -i -k -n -w -x -z -Z -e: -s: -a: -b: -I: -S: -P: -X: --follow-forks --quiet
  --summary-only
busybox | transparent reports=--list | --list
toybox | transparent | --long
sudo | elevated assignments reports=-K,-l,-v,-V,--remove-timestamp,--list,--validate directory=-D,--chdir |
  -A -b -B -E -H -k -K -l -n -N -P -S -v -V -u: -g: -h: -p: -C: -T: -r: -t: -U: -D: -R: --user: --group:
  --preserve-env? --non-interactive --stdin --set-home --background --reset-timestamp --remove-timestamp --list
  --validate --prompt: --host: --chdir: --chroot:
doas | elevated | -n -u:
pkexec | elevated moves | --user: --disable-internal-agent
gosu, su-exec | elevated operands=1 |
chroot | elsewhere operands=1 moves | --groups: --userspec: --skip-chdir
unshare | elsewhere moves |
  -m? -u? -i? -n? -p? -U? -C? -T? -f -r -c -R: -w: -S: -G: --mount? --uts? --ipc? --net? --pid? --user? --cgroup?
  --time? --fork --map-root-user --map-current-user --kill-child? --mount-proc? --root: --wd:
nsenter | elsewhere moves |
  -a -t: -m? -u? -i? -n? -p? -C? -U? -T? -S: -G: -r? -w? -F -Z --all --target: --mount? --uts? --ipc? --net? --pid?
  --cgroup? --user? --time? --setuid: --setgid: --preserve-credentials --root? --wd? --no-fork
xargs, gxargs | items |
  -0 -r -t -p -x -o -a: -d: -E: -e? -I: -i? -L: -l? -n: -P: -s: --null --no-run-if-empty --verbose --interactive
  --exit --open-tty --arg-file: --delimiter: --eof? --replace? --max-lines? --max-args: --max-procs: --max-chars:
  --show-limits
npx, bunx, pnpx, npm exec, pnpm dlx, yarn dlx | runner | -y -q --yes --quiet -p: --package: --bun --silent
uvx | runner | -q --quiet --from: --with: --python:
npm x | tool | -y -q --yes --quiet -p: --package: --bun --silent
pnpm exec | runner | -r --recursive
yarn exec, poetry run, pipenv run, pdm run, rye run, hatch run, mise exec, asdf exec | runner |
uv run | runner |
  -q --quiet --with: --python: -p: --frozen --locked --no-sync --extra: --group: --dev --no-dev --isolated
pipx run | runner | --spec:
bundle exec | runner | --keep-file-descriptors
direnv exec | runner operands=1 moves |
setpriv | tool reports=-d,--dump,--list-caps |
  -d --dump --list-caps --clear-groups --keep-groups --init-groups --no-new-privs --nnp --reset-env --groups:
  --inh-caps: --ambient-caps: --bounding-set: --ruid: --euid: --rgid: --egid: --reuid: --regid: --securebits:
  --pdeathsig: --selinux-label: --apparmor-profile:
systemd-run | tool moves |
  -t -P -q -G -d -r -H: -M: -p: -E: -u: --user --system --scope --pty --pipe --quiet --collect --wait --no-block
  --same-dir --remain-after-exit --send-sighup --no-ask-password --slice-inherit --unit: --property: --description:
  --slice: --service-type: --uid: --gid: --nice: --working-directory: --setenv: --host: --machine: --on-active:
  --on-boot: --on-startup: --on-unit-active: --on-unit-inactive: --on-calendar: --timer-property:
prlimit | tool reports=-p,--pid |
  -p: -o: -c? -d? -e? -f? -i? -l? -m? -n? -q? -r? -s? -t? -u? -v? -x? -y? --pid: --output: --noheadings --raw
  --verbose --core? --data? --nice? --fsize? --sigpending? --memlock? --rss? --nofile? --msgqueue? --rtprio? --stack?
  --cpu? --nproc? --as? --locks? --rttime?
ltrace | tool | -f -c -C -S -L -t -i -r -T -b -n: -e: -s: -a: -A: -x: -u: -D:
perf record, perf stat, perf trace | tool reports=-p,-t,--pid,--tid |
  -a -g -v -q -d -s -n -b -R -N -B -T -i -A -F: -e: -c: -p: -t: -C: -m: -j: -G: -u: -r: -D: --all-cpus --verbose
  --quiet --per-thread --detailed --no-inherit --sync --call-graph: --freq: --event: --pid: --tid: --cpu: --repeat:
  --delay:
valgrind, firejail | tool any-options |
proot | tool moves | -0 -l -v: -r: -b: -m: -w: -R: -S: -i: --rootfs: --bind: --mount: --cwd: --pwd: --root-id
fakeroot | tool | -u -b: --unknown-is-real
fakechroot, eatmydata, catchsegv, torify | tool |
dbus-launch | tool | --exit-with-session --exit-with-x11 --sh-syntax --csh-syntax
proxychains, proxychains4 | tool | -q -f:
torsocks | tool | -i -q -d -a: -P: -p: -u: --isolate --quiet --debug --address: --port:
sshpass | tool | -e -v -p: -f: -d: -P:
cgexec | tool | -g: --sticky
numactl | tool reports=-H,-s,--hardware,--show |
  -a -l -H -s -N: -m: -i: -p: -C: --all --localalloc --hardware --show --cpunodebind: --membind: --interleave:
  --preferred: --physcpubind:
rlwrap | tool | -a? -c -i -r -m? -n -p? -s: -D: -H: -I -N -R -S:
daemonize | tool moves | -a -v -c: -u: -E:
cross-env | tool assignments |
dotenv | tool | -e: -v: -c? -o -p:
conda run, mamba run, micromamba run | tool moves |
  -n: -p: -v --name: --prefix: --no-capture-output --live-stream --verbose
op run | tool | --env-file: --no-masking --account:
doppler run | tool | -p: -c: -t: --project: --config: --token:
aws-vault exec | tool operands=1 | -d: -j -n --duration: --region: --no-session
lxc exec, incus exec | tool operands=1 moves |
  -n: -t -T --name: --mode: --env: --cwd: --user: --group: --force-interactive
`

/** By the name of the program, or by program and subcommand. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  LAUNCHERS.trim()
    .split(/\n(?=\S)/)
    .flatMap((entry) => {
      const [names = '', settings = '', options = ''] = entry.split('|')
      const wrapper = wrapperOf(settings.trim().split(' '), options)
      return names.split(',').map((name) => [name.trim(), wrapper] as const)
    }),
)

function wrapperOf([launcher = '', ...settings]: readonly string[], options: string): Wrapper {
  const given = new Map(settings.map((setting) => setting.split('=') as [string, string | undefined]))
  const listOf = (name: string): readonly string[] => given.get(name)?.split(',') ?? []
  return {
    options: optionTable(`${options} --help --version`, { digits: given.has('digits') }),
    launcher: launcher as Launcher,
    operands: Number(given.get('operands') ?? 0),
    assignments: given.has('assignments'),
    reports: [...listOf('reports'), '--help', '--version'],
    directory: listOf('directory'),
    moves: given.has('moves'),
    anyOptions: given.has('any-options'),
  }
}

/** Programs that change nothing about what they run. */
export const transparentWrapperNames: readonly string[] = [
  ...[...WRAPPERS].filter(([, { launcher }]) => launcher === 'transparent').map(([name]) => name),
  'watch',
  'flock',
]
