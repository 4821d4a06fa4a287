import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readCommand } from './read-command.ts'
import type { SimpleCommand } from './reading.ts'

function read(text: string): readonly SimpleCommand[] {
  const reading = readCommand(text)
  assert.ok(reading.ok, text)
  return reading.commands
}

function runs(text: string): SimpleCommand['runs'] | undefined {
  return read(text)[0]?.runs
}

suite('a program that takes its input for code', () => {
  const reading = [
    'ssh h',
    'ssh -p 22 -i key u@h',
    'ssh h bash -s',
    "ssh h 'sudo sh'",
    'ssh h python3 -',
    "ssh h 'psql db'",
    'docker exec -i c sh',
    'docker exec -i c chroot /x',
    'docker exec -i c script',
    'docker exec -i c nsenter -t 1',
    'docker exec -i c unshare',
    'docker exec -i c "$S"',
    'docker compose exec s bash',
    'docker run -it image',
    'kubectl -n a exec -i p -- bash',
    'docker build -',
    'nc h 1',
    'psql db',
    'sqlite3 db',
    'sqlite3 -cmd x db',
    'mysql db',
    'redis-cli -h h',
    'awk -f -',
    'awk -f/dev/stdin f',
    'gawk --file=- f',
    'awk -f <(x) f',
    'make -f -',
    'make --makefile=/dev/fd/3',
    'sed -f - f',
    'gdb prog',
    'ed f',
    'vim f',
    'm4',
    'm4 - f',
    'python3 /dev/stdin',
    'python3 <(x)',
  ]
  for (const text of reading) test(text, () => assert.equal(runs(text), 'stdin-script'))

  const others = [
    'ssh h uptime',
    'ssh -N h',
    'ssh -n h',
    'ssh -V',
    "ssh h 'tar x'",
    'ssh h sh -c ls',
    'docker exec c ls',
    'docker exec -it c ls',
    'docker exec -i c sh -c ls',
    'docker ps',
    'docker build .',
    'kubectl get pods',
    'nc -z h 1',
    "psql -c 'select 1'",
    'psql -f x.sql',
    "sqlite3 db 'select 1'",
    "mysql -e 'select 1'",
    'redis-cli get a',
    "awk '{print}' f",
    'awk -f prog f',
    'make -f other.mk',
    'gdb --version',
    'm4 f',
  ]
  for (const text of others) test(`not: ${text}`, () => assert.equal(runs(text), null))
})

suite('a tool that runs what it is given', () => {
  const inner = (text: string): string[] =>
    read(text).map(({ name, args }) => [name, ...args].map((word) => word?.text).join(' '))

  const seen: readonly (readonly [string, string])[] = [
    ['setpriv --reuid 1 id', 'id'],
    ['systemd-run --user -p A=b --scope id -u', 'id -u'],
    ['ip netns exec n id', 'id'],
    ["entr -s 'a; id'", 'id'],
    ['watchexec -e js -- id -u', 'id -u'],
    ['watchexec -n id', 'id'],
    ['bwrap --ro-bind / / --unshare-net -- id', 'id'],
    ['firejail --quiet --net=none id', 'id'],
    ['valgrind --tool=none -- id', 'id'],
    ['perf stat -r 3 id', 'id'],
    ['prlimit --nofile=1 id', 'id'],
    ['cross-env A=1 id', 'id'],
    ["hyperfine -w 3 'a | id'", 'id'],
    ['lxc exec c -- id', 'id'],
    ['bun x id', 'id'],
    ["bun exec 'id'", 'id'],
    ["nix-shell --run 'id'", 'id'],
  ]
  for (const [text, command] of seen) {
    test(text, () => {
      const [tool] = read(text)
      assert.equal(tool?.launcher, 'tool')
      assert.equal(tool.unknown, null)
      assert.equal(inner(text).at(-1), command)
    })
  }

  const unclear = [
    'setpriv --weird id',
    'systemd-run --shell',
    'ip -all netns exec id',
    'bwrap --args 3 id',
    'tmux new id',
    'tmux send-keys a',
    'screen -X stuff a',
    'pnpm -r exec id',
    'fc -s',
    'xterm -e id',
    "hyperfine --prepare 'a' id",
    'watchexec $X',
    'valgrind --a=$X id',
  ]
  for (const text of unclear) {
    test(`is reported as unknown: ${text}`, () => assert.notEqual(read(text)[0]?.unknown, null))
  }

  for (const text of ['ip addr', 'tmux ls', 'screen -ls', 'fc -l', 'setpriv --dump', 'npm -v', 'nix build']) {
    test(`runs nothing else: ${text}`, () => {
      assert.equal(read(text).length, 1)
      assert.equal(read(text)[0]?.unknown, null)
    })
  }
})

suite('programs that pass their arguments on, one to another', () => {
  test('are looked through once, not once for each', () => {
    assert.equal(runs(`${'ssh h '.repeat(100)}ls`), null)
    assert.equal(runs(`${'ssh h '.repeat(100)}bash`), 'stdin-script')
    assert.equal(runs(`${'docker exec c '.repeat(100)}sh`), 'stdin-script')
  })

  test('may run their input where there are too many words to decide', () => {
    assert.equal(runs(`ssh h ${'a '.repeat(50_000)}`), 'stdin-script')
  })
})
