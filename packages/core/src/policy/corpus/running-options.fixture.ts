import type { CorpusGroup } from './corpus-group.fixture.ts'

/** Options and settings that run a program, in spellings that are easily overlooked. */
export const runningOptions: CorpusGroup = {
  title: 'options and settings that run a program, however they are spelled',
  allow: ['sed *', 'git grep *', 'git rebase *', 'git shell *', 'git send-email *', 'git config *'],
  cases: [
    ["sed --expr='1e id' x", 'ask', 'an abbreviation'],
    ["sed --e '1e id' x", 'ask', 'an abbreviation'],
    ["sed -be'1e id' x", 'ask', 'behind another letter'],
    ['sed --fi=s x', 'ask', 'an abbreviation'],
    ['git grep -nOid x', 'ask', 'behind another letter'],
    ['git rebase -ix id', 'ask', 'behind another letter'],
    ['git shell -c id', 'ask', 'runs what it is told'],
    ['git send-email --to-cmd=id x', 'ask', 'runs what it is told'],
    ['git send-email --cc-cmd=id x', 'ask', 'runs what it is told'],
    ['git send-email --smtp-server=/id x', 'ask', 'runs what it is told'],
    ["git config submodule.x.update '!id'", 'ask', 'a setting that is run'],
    ['git config interactive.diffFilter id', 'ask', 'a setting that is run'],
    ['git config core.alternateRefsCommand id', 'ask', 'a setting that is run'],
    ['git config sendemail.sendmailcmd id', 'ask', 'a setting that is run'],
    ['git config sendemail.smtpServer /id', 'ask', 'a setting that is run'],
    ['git config remote.x.vcs id', 'ask', 'a setting that is run'],
    ['git config difftool.x.path id', 'ask', 'a setting that is run'],
    ['git config init.templateDir x', 'ask', 'its hooks are run'],
    ['git config --edit', 'ask', 'opens an editor'],
    ['git config --ed', 'ask', 'opens an editor'],
    ['git config -e', 'ask', 'opens an editor'],
    ['git config --global -e', 'ask', 'opens an editor'],
    ['git config edit', 'ask', 'opens an editor'],

    ["sed -n --expr='1,5p' x", 'allow', 'only prints'],
    ['git grep -n -eFOO', 'allow', 'a word to look for'],
    ['git rebase -i main', 'allow', 'runs nothing'],
    ['git config user.name me', 'allow', 'a setting that runs nothing'],
    ['git config --list', 'allow', 'only shows'],
  ],
}
