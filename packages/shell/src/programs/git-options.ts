import { wordList } from './word-list.ts'

/** Harmless options of git, by subcommand; how they are written is explained in `harmless-options.ts`. */
export const GIT_OPTIONS: string = `
git status |
  -s -b -u? -z -v --short --branch --porcelain? --long --untracked-files? --ignored? --show-stash --ahead-behind
  --no-ahead-behind --renames --no-renames --ignore-submodules? --column? --no-column --verbose
git log, git show, git diff, git whatchanged, git reflog, git shortlog, git diff-tree, git diff-index, git diff-files, git rev-list, git range-diff |
  -p -u -s -n: -L: -S: -G: -U: -M? -C? -B? -D -R -a -b -w -z -q -c -i -E -F -P -g -t -e -m -r -1 -2 -3 -0 -W
  --patch --no-patch --oneline --graph --all --branches? --tags? --remotes? --decorate? --no-decorate --stat? --shortstat
  --numstat --dirstat? --summary --compact-summary --name-only --name-status --raw --cached --staged --merge-base --quiet
  --pretty? --format: --abbrev? --abbrev-commit --no-abbrev-commit --date: --since: --after: --until: --before: --author:
  --committer: --grep: --all-match --invert-grep --max-count: --skip: --reverse --first-parent --merges --no-merges --follow
  --diff-filter: --find-renames? --find-copies? --no-renames --unified: --word-diff? --word-diff-regex: --color-words? --color?
  --no-color --color-moved? --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-space-at-eol
  --ignore-cr-at-eol --minimal --patience --histogram --diff-algorithm: --function-context --inter-hunk-context:
  --pickaxe-all --pickaxe-regex --full-index --binary --text --relative? --no-relative --exit-code --check --topo-order
  --date-order --author-date-order --boundary --left-right --cherry-pick --cherry-mark --cherry --ancestry-path --full-history
  --simplify-merges --simplify-by-decoration --no-walk? --walk-reflogs --show-signature --notes? --no-notes --source
  --use-mailmap --no-mailmap --no-ext-diff --no-textconv --submodule? --ignore-submodules? --exclude: --glob: --count
  --objects --line-prefix: --no-prefix --src-prefix: --dst-prefix: --cc --combined-all-paths --diff-merges: --relative-date
  --encoding: --expand-tabs? --no-expand-tabs --numbered --email --parents --children --no-index --output-indicator-new:
git blame, git annotate |
  -L: -l -t -s -e -f -n -w -c -C? -M? -p -b --root --show-stats --porcelain --line-porcelain --incremental --date: --since:
  --ignore-rev: --first-parent --show-name --show-number --show-email --reverse --color-lines --color-by-age --abbrev:
git branch |
  -a -r -v -vv -l -d -D -m -M -c -f -u: -q --all --remotes --verbose --list --show-current --contains? --no-contains?
  --merged? --no-merged? --sort: --format: --points-at: --color? --no-color --column? --delete --move --force --copy
  --set-upstream-to: --unset-upstream --track? --no-track --abbrev? --ignore-case
git tag |
  -l -n? -d -a -m: -f --list --sort: --format: --contains? --no-contains? --merged? --points-at: --delete --annotate --message:
  --force --no-sign --column? --color?
git remote |
  -v --verbose --push --all
git rev-parse |
  -q --abbrev-ref? --short? --verify --quiet --show-toplevel --show-prefix --show-cdup --is-inside-work-tree --is-bare-repository
  --git-dir --git-common-dir --absolute-git-dir --symbolic-full-name --all --branches? --tags? --remotes? --is-inside-git-dir
  --show-superproject-working-tree --symbolic --show-object-format? --path-format:
git add, git stage |
  -A -u -n -v -N --all --update --dry-run --verbose --intent-to-add --no-ignore-removal --ignore-errors --refresh --renormalize
  --chmod: -f --force --ignore-removal
git commit |
  -a -m: -q -v -n -s -C: --all --message: --amend --no-edit --allow-empty --allow-empty-message --quiet --verbose --no-verify
  --signoff --dry-run --author: --date: --fixup: --squash: --no-gpg-sign --only --include --reset-author --short --trailer:
  --no-status --porcelain --no-signoff --reuse-message:
git stash |
  -u -k -m: -q -p -a -S --include-untracked --keep-index --message: --quiet --index --staged --all --stat --patch --name-only
git checkout, git switch |
  -b -B -c -C -f -q -t -d -m --force --quiet --track? --no-track --detach --orphan: --ours --theirs --create: --force-create:
  --discard-changes --guess --no-guess --merge --progress --no-progress -l
git restore |
  -S -W -s: -q --staged --worktree --source: --quiet --ours --theirs --ignore-unmerged --overlay --no-overlay
git fetch, git pull |
  -a -p -q -v -t -n -f -j: -P --all --prune --prune-tags --quiet --verbose --tags --no-tags --depth: --deepen: --unshallow --force
  --dry-run --jobs: --rebase? --no-rebase --ff --ff-only --no-ff --autostash --no-autostash --append --no-commit --commit --stat
  --no-stat --no-edit --progress --recurse-submodules? --no-recurse-submodules --shallow-since:
git push |
  -u -q -v -n -d -f --set-upstream --quiet --verbose --dry-run --tags --follow-tags --delete --force --force-with-lease? --all
  --no-verify --prune --mirror --porcelain --progress --atomic --no-progress
git merge, git cherry-pick, git revert |
  -n -e -q -v -m: -s: -X: -x --no-edit --no-ff --ff --ff-only --squash --no-commit --commit --abort --continue --quit --skip --quiet
  --verbose --stat --no-stat --strategy: --strategy-option: --mainline: --message: --allow-unrelated-histories --signoff
  --no-verify --allow-empty --keep-redundant-commits
git rebase |
  -i -q -v -m -p -f --interactive --onto: --continue --abort --skip --quit --quiet --verbose --autosquash --no-autosquash
  --autostash --no-autostash --keep-empty --root --rebase-merges? --update-refs --no-verify --edit-todo --show-current-patch
  --keep-base --fork-point --no-fork-point --strategy: --no-ff
git reset |
  -q -N -p --soft --mixed --hard --merge --keep --quiet --no-refresh --patch
git clean |
  -d -f -i -n -q -x -X -e: --force --dry-run --quiet --interactive --exclude:
git rm, git mv |
  -f -r -n -q -k -v --force --cached --dry-run --quiet --verbose --ignore-unmatch
git config |
  -l -z --list --get --get-all --get-regexp --global --local --system --worktree --show-origin --show-scope --name-only --null
  --bool --int --type: --default: --unset --unset-all --add --all --value: --fixed-value
git describe, git name-rev |
  --tags --all --long --always --abbrev: --dirty? --exact-match --match: --exclude: --contains --first-parent --candidates:
  --name-only --refs: --broken?
git ls-tree |
  -r -d -t -l -z --long --name-only --name-status --full-name --full-tree --abbrev? --object-only --format:
git ls-remote |
  -h -t -q --heads --branches --tags --refs --quiet --exit-code --get-url --sort: --symref
git cat-file |
  -t -s -e -p --batch-check?
git show-ref, git for-each-ref |
  -d -q -s --head --heads --branches --tags --dereference --hash? --verify --quiet --abbrev? --count: --sort: --format: --points-at:
  --merged? --no-merged? --contains? --no-contains? --exclude-existing --ignore-case --omit-empty
git merge-base |
  -a --all --octopus --is-ancestor --independent --fork-point
git worktree |
  -b -B -f -d -v -q --detach --force --porcelain --verbose --checkout --no-checkout --quiet --track --lock --reason: --dry-run
  -n --expire:
git check-ignore, git check-attr |
  -q -v -n -z -a --quiet --verbose --non-matching --no-index --stdin --all --cached
git submodule |
  -q --quiet --init --recursive --cached --depth: --remote --summary-limit:
git clone |
  -q -v -n -b: --quiet --verbose --depth: --branch: --single-branch --no-single-branch --no-checkout --bare --mirror --tags
  --no-tags --recurse-submodules? --shallow-submodules --filter: --progress -l
git init |
  -q -b: --quiet --bare --initial-branch: --shared?
git apply, git am |
  --check --stat --numstat --summary --cached --index --reverse -R -v --verbose -p: -3 --3way --abort --continue --skip --quit
  --whitespace: --apply --unidiff-zero --recount -C: --reject
git archive |
  -v --format: --prefix: --list -0 -9
git format-patch |
  -n -N -k -s -1 -2 -3 --stdout --numbered --signoff --cover-letter --base: --start-number: --subject-prefix: --no-stat
git bisect, git count-objects, git var, git version, git help, git notes, git cherry, git verify-commit, git verify-tag, git gc, git prune, git pack-refs, git update-index, git fsck |
  -v -H --verbose --human-readable --refresh --really-refresh -q --quiet --auto --no-prune --all --build-options
`

/** Commands of git that are not in the table: no alias can have such a name. */
export const OTHER_GIT_COMMANDS: ReadonlySet<string> = wordList(
  'bugreport bundle check-mailmap check-ref-format checkout-index citool column commit-graph commit-tree diagnose fast-export ' +
    'fast-import fetch-pack fmt-merge-msg gui hash-object hook index-pack interpret-trailers mailinfo mailsplit ' +
    'maintenance merge-file merge-index merge-one-file merge-tree mktag mktree multi-pack-index pack-objects patch-id ' +
    'prune-packed quiltimport read-tree receive-pack repack replace request-pull rerere show-branch show-index ' +
    'sparse-checkout stripspace symbolic-ref unpack-file unpack-objects update-ref update-server-info upload-archive ' +
    'upload-pack verify-pack write-tree',
)

/** Settings of git that only say how it shows, compares or names things; any other may name a program or a folder. */
export const HARMLESS_SETTING: RegExp = new RegExp(
  `^(?:${[
    'user\\.(?:name|email)',
    '(?:color|column|advice|status|rerere|stash)\\..*',
    'core\\.(?:autocrlf|eol|safecrlf|whitespace|quotepath|ignorecase|filemode|abbrev|precomposeunicode|longpaths)',
    'init\\.defaultbranch',
    'push\\.(?:default|autosetupremote|followtags)',
    'pull\\.(?:rebase|ff)',
    'fetch\\.(?:prune|prunetags|parallel|all)',
    'merge\\.(?:conflictstyle|ff|stat|log)',
    'rebase\\.(?:autosquash|autostash|updaterefs|stat)',
    'diff\\.(?:algorithm|renames|renamelimit|colormoved|mnemonicprefix|noprefix|context|interhunkcontext)',
    'log\\.(?:date|decorate|abbrevcommit|follow)',
    'grep\\.(?:linenumber|patterntype|extendedregexp|column)',
    'commit\\.(?:verbose|status|cleanup)',
    'branch\\.(?:sort|autosetuprebase|autosetupmerge)',
    '(?:tag|versionsort)\\.(?:sort|suffix)',
    'format\\.pretty',
  ].join('|')})$`,
  'i',
)
