import type { PatternRule } from '@inspan/protocol'
import type { CorpusCase, CorpusGroup } from './corpus-group.fixture.ts'

const SECRETS: readonly PatternRule[] = ['.env*', 'secrets/**', '~/.ssh/**'].map((pattern) => {
  return { tool: 'read_file', pattern, policy: 'deny' }
})

function cases(verdict: 'allow' | 'ask', why: string, lines: readonly string[]): CorpusCase[] {
  return lines.flatMap((line) => line.split(' · ')).map((command) => [command, verdict, why])
}

const SHOWN = cases('ask', 'shows files that it is not told', [
  'git log -p · git log -u · git log -U1 · git log --patch · git log -1 -sp · git log -zp · git log -c · git log --cc',
  'git log --patch-with-stat · git log --unified=1 · git log --binary · git log --remerge-diff · git log --stat -p',
  'git log -p --grep a.ts · git log -p -S a.ts · git log -p --author a.ts -1 · git log -g -p · git log -p src',
  'git diff · git diff HEAD~ · git diff --cached · git diff main...HEAD · git diff --exit-code · git diff --stat -U3',
  'git diff -- . · git diff -- src · git diff src/ · git show · git show HEAD · git show HEAD~3 --stat -p · git show :/two',
  'git show \'HEAD^{/two: a}\' · git show abc123 HEAD:src/a.ts · git show "$x" · git log -1 --format=%H | xargs git show',
  'git diff-files -p · git diff-index -p HEAD · git diff-tree -p HEAD · git diff-tree --cc HEAD · git whatchanged -p',
  'git reflog -p · git stash show -p · git stash list -p · git rev-list -p HEAD · git status -vv · git status -v -v',
  'git commit --dry-run -a -v · git add -p · git checkout -p · git reset -p · git restore --patch · git stash -p',
  'git grep key · git grep -n key · git grep a.ts · git grep -e key · git grep key HEAD · git grep key -- src',
  'git archive HEAD · git archive HEAD src · git archive --format=zip HEAD · git bundle create - HEAD',
  'git bundle create x --all · git fast-export HEAD · git fast-export --all · git format-patch -1 --stdout',
  'git format-patch HEAD~ · git range-diff a b c · git cat-file -p abc123 · git cat-file blob abc123 · git unpack-file abc123',
  'git cat-file --batch · git cat-file --batch-all-objects --batch · git checkout-index -a --prefix=/tmp/x/',
  'git worktree add ../x · git worktree add /tmp/x HEAD · git clone . /tmp/x · git clone /repo /tmp/x',
  'git log -p -- .env · git grep key -- secrets · cd secrets && git diff · git -C secrets log -p',
  'git clone --no-local file:///repo x · git request-pull -p HEAD~ . · git -C src log -p · cd src && git show',
  'git diff -- packages/* · git diff -- packages/*/src · git log -p -- * · git show HEAD -- s?c · git diff -- *{rc,ib}',
  'git diff -- {src,lib} · git diff -- {lib/a.ts,src} · git diff -- *{.env,.ts} · git grep key -- */*.env · git diff a.ts src · git diff src/ a.ts · git diff . a.ts',
  "git diff -- '*.yml' · git grep key '*.ts' · git log -p -- *.json",
  'git bundle create x.txt --all · git worktree add ../x.js',
  "sh -c 'git diff' · git diff | head · git diff > x.diff · echo $(git show) · git-diff · git --no-pager log -p · git --attr-source HEAD diff",
])

const NOT_SHOWN = cases('allow', 'shows no file, or only others', [
  'git log · git log --oneline -10 · git log --stat · git log --name-only · git log -S key · git log --grep fix · git log -20',
  'git log --pretty=format:%h --since=2.days · git log --format=%s -n 5 · git log -p src/a.ts · git log -p -- src/a.ts',
  'git diff --stat · git diff --name-only · git diff --name-status HEAD~ · git diff --quiet · git diff --shortstat main',
  "git diff src/a.ts · git diff HEAD -- src/a.ts lib/b.py · git diff --cached -- 'src/*.ts'",
  'git show --stat · git show HEAD --name-only · git show -s --format=%B · git show HEAD:src/a.ts · git show :src/a.ts',
  'git show stash@{0}:src/a.ts · git diff-tree --name-only -r HEAD · git diff-files · git diff-index HEAD',
  "git status · git status --short · git stash list · git stash show · git grep key -- 'src/*.ts' · git grep key -- src/a.ts",
  'git bundle verify x · git bundle list-heads x · git cat-file -t abc123 · git cat-file -s abc123',
  'git cat-file -e abc123 · git cat-file -p HEAD:src/a.ts · git cat-file --batch-check · git worktree list',
  'git blame src/a.ts · git blame -L 1,5 src/a.ts · git rev-parse HEAD · git branch -a · git ls-files · git clone https://h/r x',
  "git diff src/*.ts · git diff -- src/*.ts lib/a*.py · git diff 'src/*.ts' · git diff -- src/{a,b}.ts · git diff {src,lib}/a.ts",
  'git diff package.json · git diff -- package.json · git diff main.go cmd/a.go · git diff index.js · git diff Makefile',
  'git diff --word-diff README.md · git diff --color src/a.ts · git diff --ignore-all-space HEAD src/a.ts',
  'git diff HEAD -- .gitignore Dockerfile · git log -p -- packages/*/package.json · git show HEAD -- src/a.rb src/b.sql',
  'git grep -n key src/a.ts · git grep -in key src/*.ts · git grep -nE key src/a.go · git grep -A 3 key src/a.ts',
  'git add -u · git add -A · git commit -m x · git fetch · git ls-tree -r HEAD · git describe · git shortlog -s',
])

export const keptYolo: CorpusGroup = {
  title: 'what git shows of all that it keeps, under yolo and a deny of files',
  files: SECRETS,
  yolo: true,
  cases: [...SHOWN, ...NOT_SHOWN],
}

export const keptBelow: CorpusGroup = {
  title: 'what git shows of all that it keeps, where only what lies in one folder of another is denied',
  files: [{ tool: 'read_file', pattern: 'src/keys/**', policy: 'deny' }],
  yolo: true,
  cases: [
    ...cases('ask', 'it may lie below', [
      "git diff -- src · git diff -- :/ · git diff -- : · git diff -- :/src · git diff -- ':(top)' · git diff -- ':(top)src'",
      "git diff -- ':(icase)SRC' · git diff -- {src,lib} · git diff -- {s,x}rc · git diff -- s* · git diff -- */ · git diff -- *",
      'git diff -- {"src",x} · cd lib && git diff -- :/src · git log -p -- lib \'s*\' · git grep key -- src/* · git diff a.ts src',
    ]),
    ...cases('allow', 'it lies elsewhere', [
      "git diff -- lib · git diff -- lib/* · git diff -- {lib,test} · git diff -- :/lib · git diff -- ':(top)lib'",
      'git diff -- packages/*/lib · git diff -- l* · git diff a.ts lib · git diff lib/ · git diff ./lib a.ts · git diff ..main a.ts · git diff -- src/a.ts · git diff -- lib/:x',
    ]),
  ],
}

export const keptBroadly: CorpusGroup = {
  title: 'what git shows of all that it keeps, where git as a whole is allowed',
  allow: ['git *', 'cd *', 'head *', 'echo *', 'xargs *', '*'],
  categories: { execute: 'allow', edit: 'allow' },
  files: SECRETS,
  cases: SHOWN,
}

export const keptByName: CorpusGroup = {
  title: 'what git shows of all that it keeps, where a rule names what it does',
  allow: ['git *', 'git diff *', 'git log *', 'git show *', 'git archive HEAD', 'cat *', 'head *'],
  files: SECRETS,
  cases: [
    ...cases('allow', 'a rule names it', [
      'git diff · git diff HEAD~ · git log -p -1 · git show HEAD · git diff | head · git archive HEAD · git diff -- src',
    ]),
    ...cases('ask', 'no rule names it, or it names a denied file', [
      'git grep key · git bundle create x HEAD · git archive HEAD src · git diff && git grep key · git format-patch -1',
      'git diff -- .env · git show HEAD:.env · git log -p -- secrets · git show HEAD -- secrets/a · git diff HEAD:.env a',
    ]),
  ],
}

export const keptHidden: CorpusGroup = {
  title: 'what git shows of the sources of one kind, where only hidden files are denied',
  files: [{ tool: 'read_file', pattern: '.env*', policy: 'deny' }],
  yolo: true,
  cases: [
    ...cases('allow', 'no source is called like this', [
      "git diff '*.ts' · git diff -- '*.yml' · git log -p -- *.json · git grep -n key -- '*.go' · git diff -- s*.rs · git diff *.js",
      'git diff -- src/**/*.{ts,tsx} · git diff -- packages/*/src/[a-z]*.ts · git diff -- app/[id]/page.tsx · git diff {a,b}.json',
    ]),
    ...cases('ask', 'it may be a folder, or find hidden files', [
      "git diff -- '*' · git diff -- * · git diff -- '*env' · git diff -- *env · git grep key -- 'src/*' · git diff -- next.js",
    ]),
  ],
}

export const keptElsewhere: CorpusGroup = {
  title: 'what git shows, where only files of another place are denied, or only writing',
  files: [
    { tool: 'read_file', pattern: '~/.ssh/**', policy: 'deny' },
    { tool: 'edit_file', pattern: '.env*', policy: 'deny' },
  ],
  yolo: true,
  cases: cases('allow', 'git keeps nothing of it', [
    'git diff · git log -p · git show · git grep key · git archive HEAD',
  ]),
}
