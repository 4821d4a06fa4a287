import { wrapper } from './wrapper.ts'
import type { Wrapper } from './wrapper.ts'

// Options that write a file are missing on purpose, so that they are "not understood".
const PERF = wrapper(
  '-a -g -v -q -d -s -n -b -R -N -B -T -i -A -F: -e: -c: -p: -t: -C: -m: -j: -G: -u: -r: -D: --all-cpus --verbose --quiet ' +
    '--per-thread --detailed --no-inherit --sync --call-graph: --freq: --event: --pid: --tid: --cpu: --repeat: --delay:',
  { launcher: 'tool', reports: ['-p', '-t', '--pid', '--tid'] },
)
const CONDA = wrapper('-n: -p: -v --name: --prefix: --no-capture-output --live-stream --verbose', {
  launcher: 'tool',
  moves: true,
})
const PROXY = wrapper('-q -f:', { launcher: 'tool' })
const TOR = wrapper('-i -q -d -a: -P: -p: -u: --isolate --quiet --debug --address: --port:', { launcher: 'tool' })
const CONTAINER = wrapper('-n: -t -T --name: --mode: --env: --cwd: --user: --group: --force-interactive', {
  launcher: 'tool',
  operands: 1,
  moves: true,
})
const PLAIN = wrapper('', { launcher: 'tool' })
const ANY = wrapper('', { launcher: 'tool', anyOptions: true })

/** Programs that watch, limit or confine what they run. They need permission of their own as well. */
export const TOOL_WRAPPERS: readonly (readonly [string, Wrapper])[] = [
  [
    'setpriv',
    wrapper(
      '-d --dump --list-caps --clear-groups --keep-groups --init-groups --no-new-privs --nnp --reset-env --groups: --inh-caps: ' +
        '--ambient-caps: --bounding-set: --ruid: --euid: --rgid: --egid: --reuid: --regid: --securebits: --pdeathsig: ' +
        '--selinux-label: --apparmor-profile:',
      { launcher: 'tool', reports: ['-d', '--dump', '--list-caps'] },
    ),
  ],
  [
    'systemd-run',
    wrapper(
      '-t -P -q -G -d -r -H: -M: -p: -E: -u: --user --system --scope --pty --pipe --quiet --collect --wait --no-block ' +
        '--same-dir --remain-after-exit --send-sighup --no-ask-password --slice-inherit --unit: --property: --description: ' +
        '--slice: --service-type: --uid: --gid: --nice: --working-directory: --setenv: --host: --machine: --on-active: ' +
        '--on-boot: --on-startup: --on-unit-active: --on-unit-inactive: --on-calendar: --timer-property:',
      { launcher: 'tool', moves: true },
    ),
  ],
  [
    'prlimit',
    wrapper(
      '-p: -o: -c? -d? -e? -f? -i? -l? -m? -n? -q? -r? -s? -t? -u? -v? -x? -y? --pid: --output: --noheadings --raw --verbose ' +
        '--core? --data? --nice? --fsize? --sigpending? --memlock? --rss? --nofile? --msgqueue? --rtprio? --stack? --cpu? ' +
        '--nproc? --as? --locks? --rttime?',
      { launcher: 'tool', reports: ['-p', '--pid'] },
    ),
  ],
  ['ltrace', wrapper('-f -c -C -S -L -t -i -r -T -b -n: -e: -s: -a: -A: -x: -u: -D:', { launcher: 'tool' })],
  ['perf record', PERF],
  ['perf stat', PERF],
  ['perf trace', PERF],
  ['valgrind', ANY],
  ['firejail', ANY],
  [
    'proot',
    wrapper('-0 -l -v: -r: -b: -m: -w: -R: -S: -i: --rootfs: --bind: --mount: --cwd: --pwd: --root-id', {
      launcher: 'tool',
      moves: true,
    }),
  ],
  ['fakeroot', wrapper('-u -b: --unknown-is-real', { launcher: 'tool' })],
  ['fakechroot', PLAIN],
  ['eatmydata', PLAIN],
  ['catchsegv', PLAIN],
  ['dbus-launch', wrapper('--exit-with-session --exit-with-x11 --sh-syntax --csh-syntax', { launcher: 'tool' })],
  ['proxychains', PROXY],
  ['proxychains4', PROXY],
  ['torsocks', TOR],
  ['torify', PLAIN],
  ['sshpass', wrapper('-e -v -p: -f: -d: -P:', { launcher: 'tool' })],
  ['cgexec', wrapper('-g: --sticky', { launcher: 'tool' })],
  [
    'numactl',
    wrapper(
      '-a -l -H -s -N: -m: -i: -p: -C: --all --localalloc --hardware --show --cpunodebind: --membind: --interleave: ' +
        '--preferred: --physcpubind:',
      { launcher: 'tool', reports: ['-H', '-s', '--hardware', '--show'] },
    ),
  ],
  ['rlwrap', wrapper('-a? -c -i -r -m? -n -p? -s: -D: -H: -I -N -R -S:', { launcher: 'tool' })],
  ['daemonize', wrapper('-a -v -c: -u: -E:', { launcher: 'tool', moves: true })],
  ['cross-env', wrapper('', { launcher: 'tool', assignments: true })],
  ['dotenv', wrapper('-e: -v: -c? -o -p:', { launcher: 'tool' })],
  ['conda run', CONDA],
  ['mamba run', CONDA],
  ['micromamba run', CONDA],
  ['op run', wrapper('--env-file: --no-masking --account:', { launcher: 'tool' })],
  ['doppler run', wrapper('-p: -c: -t: --project: --config: --token:', { launcher: 'tool' })],
  ['aws-vault exec', wrapper('-d: -j -n --duration: --region: --no-session', { launcher: 'tool', operands: 1 })],
  ['lxc exec', CONTAINER],
  ['incus exec', CONTAINER],
]
