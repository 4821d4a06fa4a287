/** Harmless options of the tools of developers; how they are written is explained in `harmless-options.ts`. */
export const TOOL_OPTIONS: string = `
curl |
  -s -S -f -L -i -I -v -k -g -N -G -4 -6 -X: -H: -d: -u: -m: -A: -e: -w: -r: --silent --show-error --fail --fail-with-body
  --location --include --head --verbose --insecure --globoff --no-buffer --get --request: --header: --data: --data-raw:
  --data-binary: --data-urlencode: --json: --user: --max-time: --connect-timeout: --retry: --retry-delay: --user-agent:
  --referer: --write-out: --compressed --http1.1 --http2 --ipv4 --ipv6 --url: --no-progress-meter --retry-all-errors
wget |
  -q -S -v -nv -c -t: -T: --spider --quiet --server-response --tries: --timeout: --no-verbose --header:
make, gmake |
  -j? -k -n -s -B -i -q -w -d -l: --jobs? --keep-going --just-print --dry-run --silent --quiet --always-make --no-print-directory
  --print-directory --question --trace --debug? --warn-undefined-variables --output-sync?
npm, pnpm, yarn |
  -s -q -d -w: -g -D -S -E -O -P -r -F: --silent --quiet --verbose --loglevel: --workspace: --workspaces --if-present --json --long
  --depth: --all --omit: --include: --production --prod --dev --save --save-dev --save-exact --save-optional --no-save
  --no-audit --no-fund --no-progress --prefer-offline --offline --legacy-peer-deps --force --dry-run --ignore-scripts
  --frozen-lockfile --filter: --recursive --parallel --stream --global --version --help --no-color --color? --no-bail
  --include-workspace-root --parseable --package-lock-only --immutable
bun |
  --silent --watch --bail? --timeout: --coverage --frozen-lockfile --production --version
tsc |
  -p: -w -v -h --noEmit --project: --watch --pretty? --skipLibCheck --strict --target: --module: --lib: --jsx: --version --help
  --listFiles --showConfig --noUnusedLocals --noUnusedParameters --moduleResolution: --esModuleInterop --allowJs --checkJs
  --noErrorTruncation --extendedDiagnostics --diagnostics --explainFiles --traceResolution --isolatedModules
eslint |
  --ext: --fix --fix-dry-run --quiet --max-warnings: --cache --color --no-color --debug --version --no-cache --rule:
  --no-error-on-unmatched-pattern --report-unused-disable-directives --no-warn-ignored --ignore-pattern: --format: -f: -v -h
  --no-inline-config --fix-type: --pass-on-no-patterns --concurrency:
prettier |
  -c -l -w -u --check --list-different --write --ignore-unknown --no-config --no-error-on-unmatched-pattern --log-level:
  --cache --tab-width: --single-quote --no-semi --print-width: --trailing-comma: --version --no-color --no-editorconfig
vitest |
  -t: -u --run --watch --no-watch --coverage --testNamePattern: --reporter: --bail? --silent --update --passWithNoTests
  --no-coverage --changed? --shard: --retry: --testTimeout: --no-file-parallelism --hideSkippedTests --logHeapUsage
  --project: --no-color --allowOnly --version
jest |
  -t: -u -b -i -o -w: --testNamePattern: --coverage --watch --watchAll --bail? --runInBand --verbose --silent --updateSnapshot --ci
  --passWithNoTests --onlyChanged --onlyFailures --listTests --maxWorkers: --testTimeout: --no-coverage --no-cache
  --detectOpenHandles --forceExit --colors --noStackTrace --showConfig --errorOnDeprecated --version --testPathPattern: --json
mocha |
  -g: -f: -i -b -t: -s: -w -j: --grep: --fgrep: --invert --bail --timeout: --slow: --watch --parallel --jobs: --exit --dry-run
  --recursive --color --no-color --diff --no-diff --full-trace --forbid-only --retries: --version --sort
pytest, py.test |
  -x -v -q -s -l -k: -m: -n: -r: --co --collect-only --verbose --quiet --exitfirst --maxfail: --lf --last-failed --ff --failed-first
  --nf --sw --stepwise --tb: --durations: --durations-min: --no-header --no-summary --color: --capture: --showlocals --full-trace
  --disable-warnings --markers --fixtures --version --strict-markers --no-cov --cov? --cov-fail-under: --setup-show --runxfail
  --deselect: --timeout: --numprocesses: --dist: -vv -vvv
mypy |
  -v --strict --pretty --show-error-codes --show-error-context --no-error-summary --ignore-missing-imports --version
  --show-column-numbers --check-untyped-defs --disallow-untyped-defs --no-incremental --python-version: --exclude: --no-color-output
ruff |
  -q -v -n --fix --diff --check --quiet --verbose --statistics --show-fixes --no-cache --select: --ignore: --extend-select:
  --exclude: --output-format: --target-version: --line-length: --preview --exit-zero --no-fix --unsafe-fixes --version
black, isort |
  -q -v -l: --check --diff --quiet --verbose --line-length: --profile: --version --color --check-only
cargo -- |
  -D: -W: -A: -F: --nocapture --no-capture --test-threads: --ignored --include-ignored --exact --show-output --skip: --list -q
  --check
cargo |
  -v -q -p: -j: -F: -r -k --verbose --quiet --release --all --workspace --all-targets --all-features --no-default-features
  --features: --package: --exclude: --lib --bins --bin: --tests --test: --examples --example: --benches --bench: --jobs:
  --keep-going --no-fail-fast --no-run --offline --locked --frozen --color: --message-format: --profile: --target: --fix
  --allow-dirty --allow-staged --check --no-deps --depth: --edition: --timings? --version --list -vv --doc
go |
  -v -x -n -a -race -cover -short -json -failfast -run -bench -benchmem -benchtime -count -timeout -parallel -cpu -list -tags
  -mod -u -d -l -m -s -p -trimpath -covermode -coverpkg -shuffle -skip -vet -fix -deps -e -f -msan -asan -fullpath -t
gradle, gradlew |
  -q -i -d -s -S --info --debug --stacktrace --full-stacktrace --quiet --warn --continue --dry-run --parallel --no-parallel
  --daemon --no-daemon --rerun-tasks --offline --scan --no-build-cache --build-cache --tests --console: -x -m
  --version --status --warning-mode:
mvn |
  -q -B -o -e -X -U -V -am -pl -T --quiet --batch-mode --offline --errors --debug --show-version --version
  --also-make --projects: --threads:
docker, podman |
  -a -q -n: -f --all --quiet --no-trunc --last: --latest --format: --filter: --tail: --follow --since: --until: --timestamps -t
  --size --no-stream --details --version
kubectl |
  -n: -A -w -l: -o: -c: -p --output: --namespace: --all-namespaces --watch --selector: --show-labels --no-headers --tail: --since:
  --follow --container: --previous --context: --sort-by: --field-selector: --client --timestamps --limit: --all-containers
gh |
  -R: -s: -L: -q: -a: -l: -A: -B: -H: -S: -w -t: -b: -d -c -u: -e: --repo: --state: --limit: --json: --jq: --author: --assignee: --label: --base:
  --head: --search: --title: --body: --draft --web --comments --log --log-failed --job: --workflow: --branch: --user: --event:
  --status: --name-only --patch --color: --milestone: --reviewer: --required --exit-status --verbose --paginate --fill --squash
  --merge --rebase --approve --comment --created: --commit: --attempt: --compact --interval: --watch
systemctl |
  -a -l -n: --all --full --lines: --no-pager --user --type: --state: --failed
python3, python |
  -V --version -m -u -B
json.tool |
  --sort-keys --indent: --no-indent --compact --tab --no-ensure-ascii --json-lines
http.server |
  -b: --bind:
node, nodejs |
  --test --version -v --test-only --test-name-pattern: --test-reporter: --test-concurrency: --test-timeout: --watch --no-warnings
  --experimental-strip-types --enable-source-maps --trace-warnings --test-skip-pattern: --experimental-test-coverage
  --test-force-exit --test-shard: --check -c
setpriv |
  --reuid: --regid: --clear-groups --no-new-privs --nnp
valgrind |
  -q -v -h --quiet --verbose --tool: --leak-check? --show-leak-kinds? --track-origins? --error-exitcode? --num-callers?
docker-compose |
  -a -q --all --quiet --services --tail: --follow --timestamps --no-color
`
