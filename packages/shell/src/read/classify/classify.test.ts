import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { classify } from './classify.ts'
import type { ClassifyOptions } from './classify.ts'
import type { FileOperation } from './operations.ts'

/** Shows an operation, e.g. as `read a.txt 1-20` or `search TODO @ src`. None means "stays a command". */
function show(operation: FileOperation): string {
  switch (operation.kind) {
    case 'read': {
      const { path, startLine, endLine } = operation
      return startLine === undefined && endLine === undefined
        ? `read ${path}`
        : `read ${path} ${startLine}-${endLine ?? ''}`
    }
    case 'search':
      return operation.path === undefined
        ? `search ${operation.query}`
        : `search ${operation.query} @ ${operation.path}`
    case 'list':
      return operation.path === undefined ? 'list' : `list ${operation.path}`
  }
}

function shown(command: string, options?: ClassifyOptions): readonly string[] {
  return classify(command, options)?.map(show) ?? []
}

function specify(title: string, table: readonly (readonly [command: string, ...expected: string[]])[]): void {
  describe(title, () => {
    for (const [command, ...expected] of table) {
      it(`${JSON.stringify(command)} → ${expected.join(', ') || 'command'}`, () => {
        assert.deepEqual(shown(command), expected)
      })
    }
  })
}

specify('printing a file is a read', [
  ['cat hello.txt', 'read hello.txt'],
  ['cat ./src/app.js', 'read ./src/app.js'],
  ['cat /etc/hosts', 'read /etc/hosts'],
  ['cat -n src/app.ts', 'read src/app.ts'],
  ['cat -A src/app.ts', 'read src/app.ts'],
  ['cat --number src/app.ts', 'read src/app.ts'],
  ['cat a.txt b.txt', 'read a.txt', 'read b.txt'],
  ['cat -- -odd-name', 'read -odd-name'],
  [`cat 'with space.txt' "and more.txt"`, 'read with space.txt', 'read and more.txt'],
  ['cat with\\ space.txt', 'read with space.txt'],
  ['cat ~/.bashrc', 'read ~/.bashrc'],
  ['cat .agents/skills/greet/SKILL.md', 'read .agents/skills/greet/SKILL.md'],
  ['/bin/cat a', 'read a'],
  ['/usr/bin/cat a', 'read a'],
  ['cat < a.txt', 'read a.txt'],
  ['cat a 2>/dev/null', 'read a'],
  ['cat a 2>&1', 'read a'],
  ['cat a &>/dev/null', 'read a'],
  ['cat ünïcode.md', 'read ünïcode.md'],
  ['nl -ba src/app.ts', 'read src/app.ts'],
  ['nl src/app.ts', 'read src/app.ts'],
  ['tac log.txt', 'read log.txt'],
  ['wc -l src/app.ts', 'read src/app.ts'],
  ['wc -l < src/app.ts', 'read src/app.ts'],
  ['wc a b', 'read a', 'read b'],
  ['less README.md', 'read README.md'],
  ['less -R README.md', 'read README.md'],
  ['more README.md', 'read README.md'],
  ['more +10 README.md', 'read README.md 10-'],
  ['more -s +/Usage README.md', 'read README.md'],
  ['more -n 5 README.md', 'read README.md'],
  ['less -n README.md', 'read README.md'],
  ['bat README.md', 'read README.md'],
  ['bat -p --paging=never README.md', 'read README.md'],
  ['bat --style=plain --color never src/a.ts', 'read src/a.ts'],
  ['batcat -n a', 'read a'],
  ['bat -r 10:20 a', 'read a 10-20'],
  ['bat --line-range 10: a', 'read a 10-'],
  ['bat --line-range=:20 a', 'read a 1-20'],
  ['bat -r 10:+5 a', 'read a 10-15'],
  ['bat -r 1:3 -r 8:9 a', 'read a 1-3', 'read a 8-9'],
])

specify('head and tail read the lines they print', [
  ['head file', 'read file 1-10'],
  ['head -n 20 file', 'read file 1-20'],
  ['head -n20 file', 'read file 1-20'],
  ['head -20 file', 'read file 1-20'],
  ['head --lines=20 file', 'read file 1-20'],
  ['head --lines 20 file', 'read file 1-20'],
  ['head file -n 5', 'read file 1-5'],
  ['head -q -n 5 a b', 'read a 1-5', 'read b 1-5'],
  ['head -n -5 file', 'read file'],
  ['head -n 0 file', 'read file'],
  ['head -c 100 file', 'read file'],
  ['head --bytes=100 file', 'read file'],
  ['head -n 5 < file', 'read file 1-5'],
  ['tail file', 'read file'],
  ['tail -n 20 file', 'read file'],
  ['tail -20 file', 'read file'],
  ['tail -n +10 file', 'read file 10-'],
  ['tail -n+10 file', 'read file 10-'],
  ['tail --lines=+10 file', 'read file 10-'],
  ['tail +10 file', 'read file 10-'],
  ['tail -c 200 file', 'read file'],
  ['tail -f log'],
  ['tail -F log'],
  ['tail --follow=name log'],
  ['tail -n 5 -f log'],
])

specify('sed that only prints is a read of its ranges', [
  [`sed -n '10,20p' path`, 'read path 10-20'],
  [`sed -n '2,4p' notes.txt`, 'read notes.txt 2-4'],
  ['sed -n 5p f', 'read f 5-5'],
  [`sed -n '1,200p' a`, 'read a 1-200'],
  [`sed -n "1,200p" a`, 'read a 1-200'],
  ['sed -n 1,200p a', 'read a 1-200'],
  [`sed -n '5,$p' f`, 'read f 5-'],
  [`sed -n '5,+3p' f`, 'read f 5-8'],
  [`sed -n '5p;10p' f`, 'read f 5-5', 'read f 10-10'],
  [`sed -n -e '1,5p' -e '20,25p' f`, 'read f 1-5', 'read f 20-25'],
  [`sed -n '1,5p;20,25p' f`, 'read f 1-5', 'read f 20-25'],
  [`sed -n '10,20p;20q' f`, 'read f 10-20'],
  [`sed -ne '3,4p' f`, 'read f 3-4'],
  [`sed --quiet '3,4p' f`, 'read f 3-4'],
  [`sed --silent --expression='3,4p' f`, 'read f 3-4'],
  [`sed -nE '3,4p' f`, 'read f 3-4'],
  [`sed -n '20,10p' f`, 'read f 20-20'],
  [`sed -n '/start/,/end/p' f`, 'read f'],
  [`sed -n '/start/p' f`, 'read f'],
  [`sed -n '$p' f`, 'read f'],
  [`sed -n '1~2p' f`, 'read f'],
  [`sed -n p f`, 'read f'],
  [`sed -n '5,10{p}' f`, 'read f 5-10'],
  [`sed -n '5,10{=;p}' f`, 'read f 5-10'],
  [`sed -n '10{p;q}' f`, 'read f 10-10'],
  [`sed -n '10{p;q;}' f`, 'read f 10-10'],
  [`sed -n '5,10{6p}' f`, 'read f'],
  [`sed -n '/start/{p}' f`, 'read f'],
  [`sed -n '5,10{/x/{p}}' f`, 'read f'],
  [`sed -n '5,200p;50q' f`, 'read f 5-50'],
  [`sed -n '5,$p;50q' f`, 'read f 5-50'],
  [`sed '5!d' f`, 'read f 5-5'],
  [`sed '2,4!d' f`, 'read f 2-4'],
  [`sed '/x/!d' f`, 'read f'],
  [`sed '10q;d' f`, 'read f 10-10'],
  [`sed -zn '5p' f`, 'read f'],
  [`sed -n '=' f`],
  [`sed -n '5,10!{p}' f`],
  [`sed -n '5,10{s/a/b/;p}' f`],
  [`sed '5d' f`],
  [`sed '5!d;s/a/b/' f`],
  [`sed -n '1,200p' a b`, 'read a', 'read b'],
  [`sed -s -n '1,200p' a b`, 'read a 1-200', 'read b 1-200'],
  ['sed 20q f', 'read f 1-20'],
  [`sed -n '1,5p' < f`, 'read f 1-5'],
  [`sed -n '1,5p' -- f`, 'read f 1-5'],
  [`sed 's/a/b/' f`],
  [`sed '1,5d' f`],
  [`sed -n '1,5!p' f`],
  [`sed -i 's/a/b/' f`],
  [`sed -i.bak -n '1,5p' f`],
  [`sed --in-place -n 1p f`],
  [`sed -n '1,5w out' f`],
  [`sed -n '1,5p;w out' f`],
  [`sed -n '1e date' f`],
  [`sed -n 's/x/y/w out' f`],
  [`sed -n 's/x/date/e' f`],
  [`sed -f script f`],
  [`sed -n '1,5p'`],
  [`sed -n "$RANGE" f`],
  [`sed -n "1,\${N}p" f`],
])

specify('a pipe is decided by its first command, and later stages narrow the lines', [
  ['cat f | head -20', 'read f 1-20'],
  ['cat hello.txt | head -2', 'read hello.txt 1-2'],
  ['cat f | head', 'read f 1-10'],
  ['cat f | tail -n +10', 'read f 10-'],
  ['cat f | tail -n +10 | head -5', 'read f 10-14'],
  ['cat f | tail -5', 'read f'],
  ['cat f | head -50 | tail -5', 'read f 1-50'],
  [`nl -ba f | sed -n '5,10p'`, 'read f 5-10'],
  [`nl -ba hello.txt | sed -n '1,3p'`, 'read hello.txt 1-3'],
  [`cat -n f | sed -n '5,10p' | head -2`, 'read f 5-6'],
  [`cat -n f | sed -n '5,10p' | head -200`, 'read f 5-10'],
  [`sed -n '100,200p' f | head -20`, 'read f 100-119'],
  ['cat -s f | head -5', 'read f'],
  ['cat a b | head -20', 'read a', 'read b'],
  [`sed -n '1,5p;9p' f | head -3`, 'read f'],
  ['wc -l f | head -1', 'read f'],
  ['cat f | grep -n foo', 'read f'],
  ['cat f | grep foo | head -5', 'read f'],
  ['cat f | cut -c1-80 | head -5', 'read f 1-5'],
  ['cat f | sort | uniq -c | sort -rn | head', 'read f'],
  [`cat f | tr -d '\\r'`, 'read f'],
  [`cat f | sed 's/a/b/g'`, 'read f'],
  [`cat f | awk '{print $1}'`, 'read f'],
  [`cat f | awk -F: '$3 > 10 { print $1 }'`, 'read f'],
  ['cat f | wc -l', 'read f'],
  ['cat package.json | jq .scripts', 'read package.json'],
  [`cat package.json | jq -r '.scripts | keys[]'`, 'read package.json'],
  ['cat f | column -t', 'read f'],
  ['cat f | less', 'read f'],
  ['cat f | cat -A', 'read f'],
  ['cat f | nl', 'read f'],
  ['cat f | head -3 2>/dev/null', 'read f 1-3'],
  ['cat f |& head -3', 'read f 1-3'],
  ['ls | head -5', 'list'],
  ['ls -la | grep foo', 'list'],
  ['ls src | wc -l', 'list src'],
  ['rg -n foo src | head -20', 'search foo @ src'],
  ['find . -type f | wc -l', 'search -type f @ .'],
  [`find . -name '*.ts' | sort | head -50`, 'search *.ts @ .'],
  ['git ls-files | grep test', 'list'],
  ['rg --files | rg app', 'list'],
  ['cat f | tee out'],
  ['cat f | xargs rm'],
  [`find . -name '*.ts' | xargs grep foo`],
  ['cat f | sh'],
  ['cat f | python -c x'],
  ['cat f | sort -o f'],
  ['cat f | sort --compress-program=evil'],
  ['cat f | uniq - out'],
  [`cat f | sed 'w out'`],
  [`cat f | sed -i s/a/b/ g`],
  [`cat f | awk '{ system($0) }'`],
  [`cat f | awk '{ print > "out" }'`],
  [`cat f | awk '{ print | "sh" }'`],
  [`cat f | awk -f prog.awk`],
  ['cat f | grep foo other'],
  ['cat f | grep -f patterns'],
  ['cat f | head -5 other'],
  ['cat f | while read l; do echo $l; done'],
  ['cat f | head $N'],
  ['npm ls | head'],
  ['ps aux | grep node'],
])

specify('grep and its kin search', [
  ['grep -n beta notes.txt', 'search beta @ notes.txt'],
  ['grep -n TODO src/app.js', 'search TODO @ src/app.js'],
  ['grep -rn NOPE src', 'search NOPE @ src'],
  ['grep -r foo', 'search foo'],
  ['grep -R --include=*.ts foo .', 'search foo @ .'],
  [`grep -R --include='*.ts' foo .`, 'search foo @ .'],
  [`grep -rn --include '*.ts' -e foo -e bar src`, 'search foo|bar @ src'],
  ['grep foo a b', 'search foo @ a', 'search foo @ b'],
  ['grep -A 3 -B2 -C1 foo a', 'search foo @ a'],
  ['grep -5 foo a', 'search foo @ a'],
  ['grep --context=3 foo a', 'search foo @ a'],
  ['grep -ine "a b" f', 'search a b @ f'],
  ['grep --regexp=foo f', 'search foo @ f'],
  [`grep -n "it's" hello.txt`, `search it's @ hello.txt`],
  ['grep -- -x f', 'search -x @ f'],
  ['grep foo < f', 'search foo @ f'],
  ['grep foo *.ts', 'search foo @ *.ts'],
  ['grep -c foo src/*.ts', 'search foo @ src/*.ts'],
  ['egrep "a|b" f', 'search a|b @ f'],
  ['fgrep a.b f', 'search a.b @ f'],
  ['grep -q foo f', 'search foo @ f'],
  ['grep foo -r src', 'search foo @ src'],
  ['grep foo'],
  [`grep '' f`],
  ['grep -f patterns f'],
  ['grep --help'],
  ['grep --unknown foo f'],
  ['grep "$PATTERN" f'],
  ['grep foo $FILE'],
  ['grep foo "$HOME/x"'],
  ['grep $(cat p) f'],
  ['grep fo* f'],
  ['rg TODO', 'search TODO'],
  ['rg -n TODO src', 'search TODO @ src'],
  ['rg -n "export (function|const)" packages', 'search export (function|const) @ packages'],
  [`rg -g '*.ts' -g '!dist' foo`, 'search foo'],
  ['rg -t ts --hidden foo src test', 'search foo @ src', 'search foo @ test'],
  ['rg -uu -i foo', 'search foo'],
  ['rg -S --no-heading --color=never -m 5 foo .', 'search foo @ .'],
  ['rg -e foo -e bar', 'search foo|bar'],
  ['rg -l foo', 'search foo'],
  ['rg -A3 foo a.ts', 'search foo @ a.ts'],
  ['rg --json foo', 'search foo'],
  ['rg -F "a.b("', 'search a.b('],
  ['rg foo ~/notes', 'search foo @ ~/notes'],
  ['rg --pre cat foo'],
  ['rg --pre=cat foo'],
  ['rg --hostname-bin x foo'],
  ['rg --type-list'],
  ['rg --version'],
  ['rg -f patterns'],
  ['rg'],
  ['rg -g *.ts foo'],
  ['rg foo -'],
  ['rg --files', 'list'],
  ['rg --files src', 'list src'],
  ['rg --files --hidden src', 'list src'],
  [`rg --files -g '*.ts'`, 'search *.ts'],
  [`rg --files -g '*.ts' -g '*.tsx' src`, 'search *.ts|*.tsx @ src'],
  [`rg --files -g '!node_modules'`, 'list'],
  ['ag foo src', 'search foo @ src'],
  ['ag -l foo', 'search foo'],
  ['ack --ts foo', 'search foo'],
  ['git grep foo', 'search foo'],
  ['git grep -n foo src', 'search foo @ src'],
  ['git grep -n foo -- src', 'search foo @ src'],
  ['git grep -e foo', 'search foo'],
  ['git --no-pager grep foo', 'search foo'],
  ['git -C sub grep foo', 'search foo @ sub'],
  ['git -C sub grep foo src', 'search foo @ sub/src'],
  ['git grep foo HEAD~3'],
  ['git grep foo main -- src'],
  ['git grep -e foo main -- src'],
  ['git grep -- foo src', 'search foo @ src'],
  ['git grep -O foo'],
  ['git grep --open-files-in-pager=less foo'],
  ['git -c core.pager=evil grep foo'],
  ['git --exec-path=/tmp grep foo'],
])

specify('find searches, also for everything; fd lists when it is given nothing to look for', [
  [`find . -name "*.ts" -not -path "./.git/*"`, 'search *.ts @ .'],
  [`find . -name '*.js'`, 'search *.js @ .'],
  ['find . -name *.js', 'search *.js @ .'],
  [`find src test -iname '*.md'`, 'search *.md @ src', 'search *.md @ test'],
  [`find . \\( -name '*.ts' -o -name '*.tsx' \\)`, 'search *.ts|*.tsx @ .'],
  [`find . -type f \\( -name a -o -name b \\) -print`, 'search a|b @ .'],
  [`find . -path ./node_modules -prune -o -name '*.ts' -print`, 'search *.ts @ .'],
  [`find . \\( -path ./a -o -path ./b \\) -prune -o -type f -print`, 'search -type f @ .'],
  [`find . -not \\( -name a -o -name b \\) -name c`, 'search c @ .'],
  [`find . ! -name a`, 'search * @ .'],
  [`find . -path '*/test/*' -name '*.ts'`, 'search */test/* *.ts @ .'],
  [`find . -path '*/test/*' \\( -name a -o -name b \\)`, 'search */test/* a|b @ .'],
  [`find . -path x -name a -o -name b`, 'search x a|b @ .'],
  ['find', 'search *'],
  ['find .', 'search * @ .'],
  ['find src', 'search * @ src'],
  ['find src -maxdepth 2 -type f', 'search -type f @ src'],
  [`find -maxdepth 1 -name x`, 'search x'],
  [`find . -regex '.*/a[0-9]'`, 'search .*/a[0-9] @ .'],
  ['find . -mtime -1', 'search -mtime -1 @ .'],
  ['find . -type f -size +1M -newer a', 'search -type f -size +1M -newer a @ .'],
  ['find . -empty', 'search -empty @ .'],
  [`find . -type f -printf '%p\\n'`, 'search -type f @ .'],
  ['find -L src -name x', 'search x @ src'],
  ['find ~/notes -name x', 'search x @ ~/notes'],
  ['find . -name x -print0', 'search x @ .'],
  ['find . -name x -ls', 'search x @ .'],
  ['find . -delete'],
  ['find . -name x -delete'],
  ['find . -name x -exec rm {} \\;'],
  ['find . -name x -exec cat {} +'],
  ['find . -execdir ls \\;'],
  ['find . -ok rm {} \\;'],
  ['find . -fprint out'],
  ['find . -fls out'],
  ['find . -name "$X"'],
  ['find $DIR -name x'],
  ['find . -unknown'],
  ['find . \\( -name x'],
  ['fd foo', 'search foo'],
  ['fd foo src', 'search foo @ src'],
  ['fd -e ts', 'search *.ts'],
  ['fd -e ts -e tsx . src', 'search *.ts|*.tsx @ src'],
  ['fd -t f', 'list'],
  ['fd . src', 'list src'],
  ['fd -H -g "*.md"', 'search *.md'],
  ['fdfind foo', 'search foo'],
  ['fd foo -x rm'],
  ['fd -e ts --exec rm'],
  ['fd -X vim'],
])

specify('ls and its kin list', [
  ['ls', 'list'],
  ['ls src', 'list src'],
  ['ls -la src', 'list src'],
  ['ls -la', 'list'],
  ['ls -1 src test', 'list src', 'list test'],
  ['ls -R .', 'list .'],
  ['ls /', 'list /'],
  ['ls ~', 'list ~'],
  ['ls ..', 'list ..'],
  ['ls -d */', 'list */'],
  ['ls src/*.ts', 'list src/*.ts'],
  ['ls --color=never -lah src', 'list src'],
  ['ls -l --time-style=long-iso', 'list'],
  ['ls src 2>/dev/null', 'list src'],
  ['tree', 'list'],
  ['tree -L 2 src', 'list src'],
  [`tree -a -I 'node_modules|dist' .`, 'list .'],
  ['tree -L 2 -o out.txt'],
  ['eza -la src', 'list src'],
  ['eza --tree --level=2', 'list'],
  ['exa', 'list'],
  ['dir', 'list'],
  ['git ls-files', 'list'],
  ['git ls-files src', 'list src'],
  [`git ls-files '*.ts'`, 'search *.ts'],
  ['git ls-files --others --exclude-standard', 'list'],
  ['ls $DIR'],
  ['ls "$(pwd)"'],
  ['ls --unknown-option'],
])

specify('braces are the words they stand for', [
  ['cat src/{a,b}.ts', 'read src/a.ts', 'read src/b.ts'],
  ['ls {a,b}', 'list a', 'list b'],
  ['wc -l src/{a,b}/{x,y}.ts', 'read src/a/x.ts', 'read src/a/y.ts', 'read src/b/x.ts', 'read src/b/y.ts'],
  ['cat a{,.bak}', 'read a', 'read a.bak'],
  ['grep -rn foo . --exclude-dir={node_modules,dist}', 'search foo @ .'],
  ['grep -rn foo --include=*.{ts,tsx} src', 'search foo @ src'],
  ['rg foo -g *.{ts,tsx} src'],
  ['rg foo {src,test}', 'search foo @ src', 'search foo @ test'],
  ['ls src/*.{ts,tsx}', 'list src/*.ts', 'list src/*.tsx'],
  [`bash -lc 'cat {a,b}'`, 'read a', 'read b'],
  [`rg -g '*.{ts,tsx}' foo`, 'search foo'],
  ['cat *.{ts,tsx}'],
  ['cat {1..3}.txt'],
  ['cat {a,{b,c}}'],
  ['cat {a,"b c"}'],
  ['cat {$X,b}'],
  ['cat {a,~}/x'],
  // A plain shell does not expand braces.
  [`sh -c 'cat {a,b}'`],
])

specify('what runs inside a word is more than the file operation around it', [
  ['FOO=$(rm x) cat y'],
  ['FOO=`rm x` cat y'],
  ['FOO="$(date)" cat y'],
  [`bash -lc 'A=$(rm x) cat y'`],
  ['rg foo -g "$(rm x)"'],
  ['ls -I "$(rm x)"'],
  ['cat f | sort -k "$(rm x)"'],
  ['cat "$(rm x)"'],
  ['A=$B cat y', 'read y'],
  ['A=$((1 + 1)) cat y', 'read y'],
])

specify('shells, wrappers, assignments and directories are looked through', [
  [`/bin/bash -lc 'cat hello.txt'`, 'read hello.txt'],
  [`/bin/bash -lc "sed -n '2,4p' hello.txt"`, 'read hello.txt 2-4'],
  [`/bin/bash -lc "find . -name '*.js'"`, 'search *.js @ .'],
  ['/bin/bash -lc ls', 'list'],
  [`/bin/bash -c 'cat hello.txt'`, 'read hello.txt'],
  [`/usr/bin/sh -lc 'cat hello.txt'`, 'read hello.txt'],
  [`/bin/zsh -lc 'rg -n TODO src'`, 'search TODO @ src'],
  [`/nix/store/abc/bin/bash -lc 'cat a'`, 'read a'],
  [`bash -lc "nl -ba hello.txt | sed -n '1,3p'"`, 'read hello.txt 1-3'],
  [`bash -lc "cat 'hello.txt' \\"src/app.js\\""`, 'read hello.txt', 'read src/app.js'],
  [`bash -lc 'cat "hello.txt"'`, 'read hello.txt'],
  [`bash -lc "grep -n \\"it's\\" hello.txt || true"`, `search it's @ hello.txt`],
  [`bash -o pipefail -c 'cat a | head -3'`, 'read a 1-3'],
  [`bash -euo pipefail -c 'cat a'`, 'read a'],
  [`bash -c -- 'cat a'`, 'read a'],
  [`bash -c "bash -c 'cat a'"`, 'read a'],
  [`bash -lc 'cd src && cat app.js'`, 'read src/app.js'],
  ['cd src && ls', 'list src'],
  ['cd src && cat app.js', 'read src/app.js'],
  ['cd /repo && cat src/app.js', 'read /repo/src/app.js'],
  ['cd /repo && cat ../other/a', 'read /other/a'],
  ['cd /repo && cat /abs', 'read /abs'],
  ['cd /repo && rg foo', 'search foo @ /repo'],
  ['cd /repo && ls', 'list /repo'],
  ['cd a && cd b && cat c', 'read a/b/c'],
  ['cd a; cat b', 'read a/b'],
  ['cd a\ncat b', 'read a/b'],
  ['cd "a b" && cat c', 'read a b/c'],
  ['cd ~/p && cat c', 'read ~/p/c'],
  ['cd && cat c', 'read ~/c'],
  ['cd a 2>/dev/null && ls', 'list a'],
  ['cd $DIR && ls'],
  ['cd $DIR && cat b'],
  ['cd $DIR && cat /abs', 'read /abs'],
  ['cd - && cat b'],
  ['cd a || cd b; cat c'],
  ['cd src'],
  ['true && cat a', 'read a'],
  ['set -euo pipefail; cat a', 'read a'],
  ['pwd'],
  ['FOO=1 cat a', 'read a'],
  ['LC_ALL=C grep foo a', 'search foo @ a'],
  ['env LC_ALL=C grep foo a', 'search foo @ a'],
  ['env -i cat a', 'read a'],
  ['env -C sub cat a', 'read sub/a'],
  ['timeout 5 cat a', 'read a'],
  ['timeout -k 1 --signal=KILL 5s rg foo src', 'search foo @ src'],
  ['nice -n 5 cat a', 'read a'],
  ['nice -10 cat a', 'read a'],
  ['nohup cat a', 'read a'],
  ['stdbuf -oL grep foo a', 'search foo @ a'],
  ['command cat a', 'read a'],
  ['time cat a', 'read a'],
  [`timeout 10 bash -lc 'rg foo'`, 'search foo'],
  ['sudo cat /etc/shadow'],
  ['xargs cat'],
  ['PATH=/tmp cat a'],
  ['LD_PRELOAD=x.so cat a'],
  ['env PATH=/tmp cat a'],
  ['timeout --weird 5 cat a'],
  ['./cat a'],
  ['/tmp/cat a'],
  ['bash script.sh'],
  ['bash -c "$SCRIPT"'],
  ['bash'],
  [`fish -c 'cat a'`],
  [`eval 'cat a'`],
])

specify('a compound command is its operations only if it is nothing else', [
  ['cat a && cat b', 'read a', 'read b'],
  ['cat a; ls src', 'read a', 'list src'],
  [`cat hello.txt && ls src; rg -n TODO src`, 'read hello.txt', 'list src', 'search TODO @ src'],
  ['cat a || cat b', 'read a', 'read b'],
  ['cat a || true', 'read a'],
  ['cat a\ncat b\n', 'read a', 'read b'],
  ['cat a # a comment\n', 'read a'],
  ['cat a | head -3; cat b', 'read a 1-3', 'read b'],
  ['pwd && ls'],
  ['ls && pwd'],
  ['echo hi; cat a'],
  ['cat a && echo --- && cat b'],
  [`cat a; printf '\\n==\\n'; cat b`],
  ['ls nope || echo "not there"'],
  ['cat a; echo "$HOME"'],
  ['cat a; echo x > b'],
  ['cat a && npm test'],
  ['cat a; rm b'],
  ['npm test; cat a'],
  ['git status && cat a'],
  ['cat a & cat b'],
  ['! grep foo a'],
  ['(cat a)'],
  ['{ cat a; }'],
  ['if true; then cat a; fi'],
  ['[[ -f a ]] && cat a'],
  ['test -f a && cat a'],
  ['for f in a b; do cat $f; done'],
  ['while read x; do cat a; done'],
  ['f() { cat a; }; f'],
])

specify('whatever writes, runs, expands or cannot be read stays a command', [
  ['cat > f'],
  ['cat a > b'],
  ['cat a >> b'],
  ['cat a 2> errors'],
  ['cat a >&b'],
  [`cat <<'EOF' > x.txt\nl1\nEOF\ncat x.txt`],
  ['cat <<EOF\nhello\nEOF'],
  ['cat <<< hello'],
  ['cat -'],
  ['cat'],
  ['cat a -'],
  ['cat $FILE'],
  ['cat "$HOME/x"'],
  ['cat ${X:-a}'],
  ['cat $(git ls-files)'],
  ['cat `ls`'],
  ['cat <(ls)'],
  ['cat *.md'],
  ['cat a[0-9]'],
  ['cat "unterminated'],
  ['cat a\r'],
  ['cat a\u200bb'],
  ['cat a &'],
  ['$CMD a'],
  ['c?t a'],
  ['stat a'],
  ['file a'],
  ['du -sh .'],
  ['diff a b'],
  ['jq . package.json'],
  ['head -n 5'],
  ['nl'],
  ['less +F log'],
  ['less -o out log'],
  ['bat --pager=evil a'],
  ['wc --files0-from=x'],
  ['git status'],
  ['git diff'],
  ['git log --oneline'],
  ['git show HEAD:a'],
  ['npm test'],
  ['echo hi'],
  ['echo thought'],
  ['sleep 20'],
  ['exit 3'],
  ['touch a'],
  ['no-such-command-xyz'],
  [`python -c 'print(open("a").read())'`],
  ['for i in $(seq 1 3000); do echo line $i of long output; done'],
  [''],
  ['   '],
  ['# only a comment'],
  [`awk 'NR==1' f`],
])

describe('paths', () => {
  it('are made absolute when the directory is known', () => {
    assert.deepEqual(shown('cat src/../a.txt', { cwd: '/w' }), ['read /w/a.txt'])
    assert.deepEqual(shown('cat ./a.txt', { cwd: '/w' }), ['read /w/a.txt'])
    assert.deepEqual(shown('ls src/', { cwd: '/w' }), ['list /w/src'])
    assert.deepEqual(shown('ls .', { cwd: '/w' }), ['list /w'])
    assert.deepEqual(shown('cat ../../../x', { cwd: '/w' }), ['read /x'])
    assert.deepEqual(shown('cd src && cat app.js', { cwd: '/w' }), ['read /w/src/app.js'])
    assert.deepEqual(shown('cd .. && rg foo', { cwd: '/w/a' }), ['search foo @ /w'])
    assert.deepEqual(shown('ls src/*.ts', { cwd: '/w' }), ['list /w/src/*.ts'])
  })

  it('stay as written when they are absolute or start at home', () => {
    assert.deepEqual(shown('cat /a/../b', { cwd: '/w' }), ['read /a/../b'])
    assert.deepEqual(shown('cat ~/a', { cwd: '/w' }), ['read ~/a'])
    assert.deepEqual(shown(`cat 'C:\\a\\b'`, { cwd: '/w' }), ['read C:\\a\\b'])
  })

  it('paths with a quoted tilde are ordinary names', () => {
    assert.deepEqual(shown(`cat '~/a'`, { cwd: '/w' }), ['read /w/~/a'])
  })

  it('are left out for a search or listing of the directory the command ran in', () => {
    assert.deepEqual(shown('rg foo', { cwd: '/w' }), ['search foo'])
    assert.deepEqual(shown('ls', { cwd: '/w' }), ['list'])
  })
})

describe('success', () => {
  const successes = (command: string, exitCode: number): readonly (boolean | undefined)[] =>
    (classify(command, { exitCode }) ?? []).map((operation) => operation.success)

  it('is not said without an exit code', () => {
    assert.deepEqual(classify('cat a'), [{ kind: 'read', path: 'a' }])
  })

  it('follows the exit code of a single operation', () => {
    assert.deepEqual(successes('cat a', 0), [true])
    assert.deepEqual(successes('cat a', 1), [false])
    assert.deepEqual(successes('ls nope', 2), [false])
    assert.deepEqual(successes('find nope -name x', 1), [false])
  })

  it('a search succeeds even if it finds nothing', () => {
    assert.deepEqual(successes('rg foo', 1), [true])
    assert.deepEqual(successes('grep -rn NOPE src', 1), [true])
    assert.deepEqual(successes('git grep foo', 1), [true])
    assert.deepEqual(successes('rg foo a b', 1), [true, true])
    assert.deepEqual(successes('find . -name x | grep y', 1), [true])
    assert.deepEqual(successes('rg foo', 2), [false])
  })

  it('is left open where the code may belong to another part', () => {
    assert.deepEqual(successes('cat a && cat b', 1), [undefined, undefined])
    assert.deepEqual(successes('cat a b', 1), [undefined, undefined])
    assert.deepEqual(successes('cat a | grep x', 1), [undefined])
    assert.deepEqual(successes('cat a || cat b', 0), [undefined, undefined])
    assert.deepEqual(successes('bash -c "cat a || cat b | head -5"', 0), [undefined, undefined])
    assert.deepEqual(successes('X=1 cat a ||\ncat b', 0), [undefined, undefined])
  })

  it('holds for all operations of a command that ended with 0', () => {
    assert.deepEqual(successes('cat a && rg foo', 0), [true, true])
    assert.deepEqual(successes('rg foo || true', 0), [true])
  })
})
