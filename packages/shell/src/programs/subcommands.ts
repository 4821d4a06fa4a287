import { wordList } from './word-list.ts'

/**
 * Subcommands that do no more than their names say, by program. Any other may run what its arguments name, change
 * settings that decide what runs later, or be the name of a plugin or an alias; many programs also take a subcommand by
 * its first letters. Those of git are in the table of its options. Some programs have two words for one subcommand.
 */
const KNOWN: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  `
npm |
  install i add ci clean-install install-test it test t tst run run-script start stop restart ls list ll la view info show
  v outdated audit fund explain why search s help ping root prefix bin whoami doctor query sbom diff docs repo bugs home
  uninstall un rm r remove unlink link ln update up upgrade version dedupe ddp prune rebuild rb pack cache completion
  deprecate dist-tag shrinkwrap
docker, podman |
  ps images logs inspect stats version info port top diff history search events start stop restart pause unpause kill rm
  rmi wait tag pull push build rename image+ls image+list image+inspect image+history image+rm image+prune image+pull
  image+build image+tag container+ls container+list container+logs container+inspect container+top container+stats
  container+port container+diff container+start container+stop container+restart container+rm container+kill
  container+wait container+prune volume+ls volume+inspect volume+create volume+rm volume+prune network+ls
  network+inspect network+create network+rm network+prune system+df system+info system+prune system+events buildx+ls
  buildx+inspect buildx+build buildx+du builder+prune builder+build context+ls context+show context+inspect
  compose+ps compose+ls compose+logs compose+images compose+top compose+port compose+version compose+config compose+up
  compose+down compose+start compose+stop compose+restart compose+pull compose+push compose+build compose+create
  compose+events compose+pause compose+unpause compose+kill compose+rm compose+watch compose+wait compose+stats
docker-compose |
  ps ls logs images top port version config up down start stop restart pull push build create events pause unpause kill rm
  watch wait stats
kubectl |
  get describe logs version top explain api-resources api-versions cluster-info rollout diff events wait apply create delete
  scale autoscale label annotate patch replace expose cordon uncordon drain taint auth+can-i auth+whoami config+view
  config+get-contexts config+get-clusters config+current-context config+use-context
gh |
  api status browse search+code search+commits search+issues search+prs search+repos pr+view pr+list pr+diff pr+checks
  pr+status pr+create pr+checkout pr+comment pr+review pr+merge pr+close pr+reopen pr+ready pr+edit issue+view
  issue+list issue+status issue+create issue+comment issue+close issue+reopen issue+edit run+list run+view run+watch
  run+rerun run+cancel workflow+list workflow+view workflow+run workflow+enable workflow+disable repo+view repo+list
  release+list release+view label+list label+create cache+list auth+status gist+list gist+view variable+list secret+list
  project+list project+view ruleset+list ruleset+view
cargo |
  build b check c test t bench doc d fmt clippy clean update tree metadata search add remove rm fetch fix run r new init
  version help locate-project pkgid info package vendor report verify-project generate-lockfile nextest
go |
  build test vet list env version doc fmt mod+tidy mod+download mod+verify mod+why mod+graph mod+vendor mod+init mod+edit
  clean get help work+sync work+use work+init
systemctl |
  status is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers list-sockets list-jobs
  list-dependencies show cat start stop restart reload try-restart reload-or-restart daemon-reload
`
    .trim()
    .split(/\n(?=\S)/)
    .flatMap((entry) => {
      const [names = '', words = ''] = entry.split('|')
      const known = wordList(words.trim())
      return names
        .trim()
        .split(', ')
        .map((name) => [name, known] as const)
    }),
)

/**
 * Returns the word that makes a subcommand an unknown one, if a star stands for it; `undefined` when there is none.
 * `places` are those of the words that are no options.
 */
export function unknownSubcommand(
  program: string,
  args: readonly string[],
  open: readonly number[],
  places: readonly number[],
): string | undefined {
  const known = KNOWN.get(program)
  const [at, next] = places
  if (known === undefined || at === undefined) return undefined
  const first = args[at] ?? ''
  if (known.has(first)) return undefined
  const isGroup = [...known].some((each) => each.startsWith(`${first}+`))
  if (!isGroup) return open.includes(at) ? first : undefined
  if (next === undefined || known.has(`${first}+${args[next] ?? ''}`)) return undefined
  return open.includes(next) ? args[next] : undefined
}
