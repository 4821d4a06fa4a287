/** Different spellings of one option, by program or by program and subcommand. Single letters are short options. */
const SYNONYMS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map(
  Object.entries({
    rm: 'r R recursive, f force, d dir, i interactive, v verbose',
    cp: 'r R recursive, f force, a archive, n no-clobber, p preserve, L dereference, t target-directory',
    mv: 'f force, n no-clobber, i interactive, t target-directory',
    ln: 's symbolic, f force',
    mkdir: 'p parents, m mode',
    chmod: 'R recursive',
    chown: 'R recursive',
    chgrp: 'R recursive',
    grep: 'r R recursive, i ignore-case, l files-with-matches, e regexp, f file',
    ls: 'a all, R recursive',
    sed: 'i in-place, e expression, f file, n quiet silent, E r regexp-extended',
    tar: 'x extract get, c create, t list, f file, z gzip, C directory, P absolute-names',
    curl: 'X request, d data, F form, o output, O remote-name, T upload-file, k insecure, u user, H header, K config, L location',
    wget: 'O output-document, r recursive, P directory-prefix, i input-file',
    rsync: 'a archive, r recursive, e rsh, n dry-run',
    kill: '9 KILL SIGKILL, s signal',
    sudo: 'u user, i login, s shell, E preserve-env',
    npm: 'g global, f force, D save-dev, w workspace',
    pip: 'r requirement, e editable, U upgrade',
    docker: 'H host, D debug',
    'docker run': 'v volume, p publish, i interactive, t tty, d detach, e env, u user',
    'docker rm': 'f force, v volumes',
    'docker exec': 'u user, e env, i interactive, t tty',
    kubectl: 'n namespace, f filename, A all-namespaces, R recursive, l selector',
    'apt-get': 'y yes assume-yes, f fix-broken',
    apt: 'y yes assume-yes, f fix-broken',
    'git push': 'f force, d delete, u set-upstream, n dry-run, q quiet',
    'git commit': 'n no-verify, a all, m message, s signoff',
    'git merge': 'm message, n no-stat',
    'git clean': 'f force, d, x, X, n dry-run, e exclude',
    'git branch': 'd delete, D, f force, m move, c copy',
    'git checkout': 'f force, b, B, m merge',
    'git switch': 'f force discard-changes, c create, C force-create',
    'git rebase': 'x exec, i interactive, f force-rebase',
    'git rm': 'r, f force',
    'git mv': 'f force',
    'git tag': 'd delete, f force, a annotate, s sign',
    'git add': 'f force, A all, u update',
    'git fetch': 'f force, p prune, a append',
    'git stash': 'u include-untracked, a all',
    'git reset': 'q quiet, p patch',
    'git worktree': 'f force',
  }).map(([program, groups]) => [program, groups.split(', ').map((group) => group.split(' '))]),
)

/** Returns every known spelling of an option, itself included; `undefined` when none are known. */
export function spellings(program: string, subcommand: string, name: string): readonly string[] | undefined {
  const known = [...(SYNONYMS.get(`${program} ${subcommand}`) ?? []), ...(SYNONYMS.get(program) ?? [])]
  return known.find((group) => group.includes(name))
}

/** Options before a subcommand that take the next word as their value. */
const TAKES_VALUE: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    git: '-C -c --git-dir --work-tree --namespace --config-env --attr-source --super-prefix',
    npm: '--prefix -C -w --workspace --registry --userconfig --loglevel --cache',
    pnpm: '--dir -C --filter -F --reporter --loglevel',
    yarn: '--cwd',
    docker: '-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey',
    podman: '--url --connection -c --identity --log-level --root --runroot',
    kubectl:
      '-n --namespace --context --kubeconfig --cluster --user -s --server --as --as-group --token --request-timeout',
    helm: '-n --namespace --kube-context --kubeconfig',
    cargo: '--manifest-path --config -C -Z --color --target-dir',
    gh: '-R --repo --hostname',
    aws: '--profile --region --endpoint-url --output',
    gcloud: '--project --account --configuration --format',
    systemctl: '-H -M --host --machine -t --type -p --property',
    'apt-get': '-o -c -t',
    apt: '-o -c -t',
    go: '-C',
  }).map(([program, options]) => [program, new Set(options.split(' '))]),
)

export function takesValue(program: string, option: string): boolean {
  const known = TAKES_VALUE.get(program)
  if (known === undefined) return false
  return known.has(option) || (/^-[A-Za-z]+$/.test(option) && known.has(`-${option.slice(-1)}`))
}

const SUBCOMMANDS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map(
  Object.entries({
    git: 'push send-pack http-push',
    npm: 'run run-script rum urn, install i in ins inst insta instal isnt isnta isntal isntall add, uninstall un unlink remove rm r, exec x, test t tst, install-test it, ci clean-install ic, publish, unpublish, link ln, config c, update up upgrade udpate',
    pnpm: 'install i, remove rm uninstall un, run run-script, test t tst, update up upgrade, link ln',
    yarn: 'remove rm, upgrade up',
    cargo: 'build b, check c, run r, test t, remove rm, doc d',
    brew: 'uninstall remove rm',
    pip: 'install',
  }).map(([program, groups]) => [program, groups.split(', ').map((group) => group.split(' '))]),
)

/** Returns all names of a subcommand, itself included. */
export function subcommandNames(program: string, name: string): readonly string[] {
  return SUBCOMMANDS.get(program)?.find((group) => group.includes(name)) ?? [name]
}

/** `docker container rm` is `docker rm`. */
const GROUPS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['docker', new Set(['container', 'image'])],
  ['podman', new Set(['container', 'image'])],
])

export function isGroup(program: string, word: string): boolean {
  return GROUPS.get(program)?.has(word) === true
}
