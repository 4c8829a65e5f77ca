import { Anchor, Button, Code, Group, Progress, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import type { DryRun, KeywordList, ListedReason, ModerationRule } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { codeOf } from '../api.ts'
import { texts, wholeApp } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { Compare, differencesOf } from '../ui/Compare.tsx'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { Facts, Json, Page, Section, SmallTable, Status, Time } from '../ui/page.tsx'
import { ReadingBar } from '../ui/Reading.tsx'
import { SearchedTable } from '../ui/SearchedTable.tsx'
import { Loaded, Problem } from '../ui/states.tsx'

const modes = [
  { value: 'off', label: 'Off' },
  { value: 'shadow', label: 'Shadow: decides and logs, and does nothing' },
  { value: 'on', label: 'On' },
]
const actions = ['blockMessage', 'dropMessage', 'flagMessage', 'banUser', 'kickUser', 'blockUser']

const ruleFields: readonly Field[] = [
  { name: 'name', label: 'Name', required: true },
  { name: 'description', label: 'Description', kind: 'long' },
  { name: 'mode', label: 'Mode', kind: 'choice', options: modes, required: true },
  { name: 'action', label: 'What happens when it is met', kind: 'choices', options: actions, required: true },
  {
    name: 'conditions',
    label: 'Conditions',
    kind: 'json',
    required: true,
    hint: 'A list: operand (text, custom, image, video), category (word, pattern, links, length, rate, …), value. The rule is met where one of them is.',
  },
  {
    name: 'filters',
    label: 'Filters',
    kind: 'json',
    hint: 'To which messages it applies: those that meet all. None: to all.',
  },
  { name: 'exceptions', label: 'Exceptions', kind: 'tags', hint: 'Texts in which it finds nothing' },
]

/** The newest; there is no second page of them. */
const mostRevisions = 1000

const exampleConditions = [{ operand: 'text', category: 'word', operator: 'contains', value: ['an example'] }]

function ruleAddress(appId: string, id: string): string {
  return `/apps/${encodeURIComponent(appId)}/moderation/rules/${encodeURIComponent(id)}`
}

/** What is asked of conditions, without what the service fills in. */
function editable(rule: ModerationRule): Values {
  const conditions = rule.conditions.map(({ id: _, ...condition }) => condition)
  return { ...rule, conditions }
}

/** The rules, each with what it found in the last month. */
export function Rules() {
  const { appId, client } = useApp()
  const can = useCan()
  const save = useSave()
  const rules = useQuery({
    queryKey: ['rules', appId],
    queryFn: async () => (await client.moderation.rules.list({ limit: 100 })).data,
  })
  const stats = useQuery({ queryKey: ['rule-stats', appId], queryFn: () => client.moderation.stats({}) })
  /** A figure of a rule; as long as figures are not there, none is claimed. */
  const figureOf = (id: string, name: 'hits' | 'upheld' | 'overturned') =>
    stats.data === undefined ? '–' : (stats.data.rules.find(({ ruleId }) => ruleId === id)?.[name] ?? 0)
  return (
    <Section
      title="Rules"
      actions={
        can('rules') && (
          <FormButton
            button="Create a rule"
            size="xs"
            title="Create a rule"
            fields={[{ name: 'id', label: 'ID', hint: 'Letters, digits, - and _', required: true }, ...ruleFields]}
            initial={{ mode: 'shadow', action: ['flagMessage'], conditions: exampleConditions }}
            onSubmit={(values) =>
              save({
                run: () => client.moderation.rules.create(values as never),
                done: 'The rule was created',
                refresh: [['rules', appId]],
              })
            }
          />
        )
      }
    >
      {stats.isError && <Problem error={stats.error} onRetry={() => void stats.refetch()} />}
      <Loaded query={rules}>
        {(rules) => (
          <SmallTable
            label="Rules"
            rows={rules}
            idOf={({ id }) => id}
            empty="There are no rules."
            columns={[
              {
                label: 'Name',
                cell: ({ id, name }) => (
                  <Anchor component={Link} to={ruleAddress(appId, id)} size="sm">
                    {name}
                  </Anchor>
                ),
              },
              { label: 'Mode', cell: ({ mode }) => <Status of={mode} /> },
              { label: 'Does', cell: ({ action }) => action.join(', ') },
              { label: 'Hits', cell: ({ id }) => figureOf(id, 'hits') },
              { label: 'Upheld', cell: ({ id }) => figureOf(id, 'upheld') },
              { label: 'Overturned', cell: ({ id }) => figureOf(id, 'overturned') },
              { label: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

/** One rule: what it looks for, tried on texts and on what was sent, and how it was before. */
export function RulePage() {
  const { appId, client } = useApp()
  const { ruleId } = useParams({ strict: false }) as { ruleId: string }
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const navigate = useNavigate()
  const [{ than }, change] = useAddress()
  const open = (revisionId: string | undefined) => change({ than: revisionId })
  const rule = useQuery({ queryKey: ['rule', appId, ruleId], queryFn: () => client.moderation.rules.get({ ruleId }) })
  const revisions = useQuery({
    queryKey: ['revisions', appId, ruleId],
    queryFn: async () => (await client.moderation.rules.revisions({ ruleId, limit: mostRevisions })).data,
  })
  const refresh = [
    ['rule', appId, ruleId],
    ['rules', appId],
    ['revisions', appId, ruleId],
  ]
  const setMode = (mode: ModerationRule['mode']) =>
    act({ run: () => client.moderation.rules.update({ ruleId, mode }), done: `The rule is ${mode} now`, refresh })
  const remove = async ({ name }: ModerationRule) => {
    const removed = await act({
      run: () => client.moderation.rules.delete({ ruleId }),
      done: 'The rule was deleted',
      refresh: [['rules', appId]],
      question: {
        title: `Delete the rule ${name}?`,
        text: 'It decides no more; what it decided stays. A dry run of it ends, and what that found is forgotten.',
        label: 'Delete',
        typed: ruleId,
      },
    })
    if (removed === undefined) return
    const to = `/apps/${encodeURIComponent(appId)}/moderation`
    await navigate({ to, search: { tab: 'rules' } as never })
  }
  return (
    <Loaded query={rule}>
      {(rule) => (
        <Page
          title={rule.name}
          hint={
            <Group gap="xs">
              {rule.id} <Status of={rule.mode} />
            </Group>
          }
          actions={
            can('rules') && (
              <>
                {modes
                  .filter(({ value }) => value !== rule.mode)
                  .map(({ value }) => (
                    <Button key={value} variant="default" onClick={() => void setMode(value as ModerationRule['mode'])}>
                      Set to {value}
                    </Button>
                  ))}
                <FormButton
                  button="Edit"
                  variant="default"
                  title={`Edit ${rule.name}`}
                  fields={ruleFields}
                  initial={editable(rule)}
                  changesOnly
                  onSubmit={(values) =>
                    save({
                      run: () => client.moderation.rules.update({ ruleId, ...values } as never),
                      done: 'There is a new revision',
                      refresh,
                    })
                  }
                />
                <Button variant="light" color="red" onClick={() => void remove(rule)}>
                  Delete
                </Button>
              </>
            )
          }
        >
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Stack>
              <Facts
                facts={{
                  Description: rule.description,
                  Does: rule.action.join(', '),
                  Exceptions: rule.exceptions?.join(', '),
                  Revision: rule.revisionId,
                  Changed: <Time at={rule.updatedAt} />,
                }}
              />
              <Section title="Conditions">
                <Json value={rule.conditions} />
              </Section>
              {rule.filters !== undefined && rule.filters.length > 0 && (
                <Section title="Filters">
                  <Json value={rule.filters} />
                </Section>
              )}
            </Stack>
            <Stack>
              {can('rules') && <TryOut ruleId={ruleId} />}
              <DryRunOf ruleId={ruleId} />
            </Stack>
          </SimpleGrid>
          <Section title="Revisions">
            <Loaded query={revisions}>
              {(revisions) => (
                <SearchedTable
                  label="Revisions"
                  name="revision"
                  textOf={({ revisionId }) => revisionId}
                  rows={revisions}
                  idOf={({ revisionId }) => revisionId}
                  empty="There is none."
                  columns={[
                    {
                      label: 'Revision',
                      cell: ({ revisionId, active }) => `${revisionId}${active ? ' (current)' : ''}`,
                    },
                    { label: 'Mode', cell: ({ mode }) => <Status of={mode} /> },
                    { label: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                    {
                      label: 'Differs from now in',
                      cell: (one) => differencesOf(one, rule, Object.keys(compared)).join(', ') || 'nothing',
                    },
                    {
                      label: 'Compare',
                      isShown: revisions.some(({ active }) => !active),
                      cell: ({ revisionId, active }) =>
                        !active && <CompareButton revisionId={revisionId} isOpen={than === revisionId} onOpen={open} />,
                    },
                  ]}
                />
              )}
            </Loaded>
          </Section>
          {revisions.data
            ?.filter(({ revisionId }) => revisionId === than)
            .map((then) => (
              <Compare key={than} title={`${than} and now`} then={then} now={rule} names={compared} />
            ))}
        </Page>
      )}
    </Loaded>
  )
}

const compared = {
  name: 'Name',
  description: 'Description',
  mode: 'Mode',
  filters: 'Filters',
  conditions: 'Conditions',
  exceptions: 'Exceptions',
  action: 'What happens when it is met',
}

/** Shows how a revision differs from what there is now, or no longer. */
function CompareButton(props: {
  readonly revisionId: string
  readonly isOpen: boolean
  readonly onOpen: (revisionId: string | undefined) => void
}) {
  const { revisionId, isOpen, onOpen } = props
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-expanded={isOpen}
      aria-label={`Compare ${revisionId} with now`}
      onClick={() => onOpen(isOpen ? undefined : revisionId)}
    >
      Compare
    </Button>
  )
}

/** Tries a rule on texts that somebody types. */
function TryOut({ ruleId }: { readonly ruleId: string }) {
  const { client } = useApp()
  const act = useAct()
  const [text, setText] = useState('')
  const [outcome, setOutcome] = useState<{ readonly text: string; readonly found: readonly string[] }[]>()
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const run = async () => {
    const tried = await act({ run: () => client.moderation.rules.test({ ruleId, texts: lines }), done: 'Tried' })
    if (tried === undefined) return
    setOutcome(
      tried.results.map(({ isHit, hits }, index) => ({
        text: lines[index] ?? '',
        found: isHit
          ? hits.map(
              ({ condition, match }) => `condition ${condition}${match?.text === undefined ? '' : `: ${match.text}`}`,
            )
          : [],
      })),
    )
  }
  return (
    <Section title="Try it on texts">
      <Textarea
        label="One text a line"
        autosize
        minRows={3}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group>
        <Button variant="default" disabled={lines.length === 0} onClick={() => void run()}>
          Try
        </Button>
      </Group>
      {outcome !== undefined && (
        <SmallTable
          label="Outcome"
          rows={outcome.map((one, index) => ({ ...one, index }))}
          idOf={({ index }) => String(index)}
          empty=""
          columns={[
            { label: 'Text', cell: ({ text }) => text },
            { label: 'Met', cell: ({ found }) => (found.length === 0 ? 'no' : found.join(', ')) },
          ]}
        />
      )}
    </Section>
  )
}

/** Lets a rule look at what was sent, without doing anything. It goes on when the page is left. */
function DryRunOf({ ruleId }: { readonly ruleId: string }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const key = [texts, appId, 'dry-run', ruleId]
  const run = useQuery({
    queryKey: key,
    queryFn: async () => {
      try {
        return await client.moderation.rules.dryRun.get({ ruleId, examples: 20 })
      } catch (error) {
        if (codeOf(error)?.includes('NOT_FOUND')) return null
        throw error
      }
    },
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? 1_000 : false),
  })
  const label = ({ messageId, label }: DryRun['examples'][number], to: 'right' | 'wrong') =>
    act({
      run: () => client.moderation.rules.dryRun.label({ ruleId, messageId, label: label === to ? null : to }),
      done: 'The label was set',
      of: messageId,
      refresh: [key],
    })
  const current = run.data ?? undefined
  return (
    <Section
      title="Dry run on what was sent"
      actions={
        can('rules') &&
        (current?.status === 'running' ? (
          <Button
            size="xs"
            variant="light"
            color="red"
            onClick={() =>
              void act({
                run: () => client.moderation.rules.dryRun.stop({ ruleId }),
                done: 'It was stopped',
                refresh: [key],
              })
            }
          >
            Stop
          </Button>
        ) : (
          <FormButton
            button="Start"
            size="xs"
            variant="default"
            title="Start a dry run"
            verb="Start"
            fields={[
              { name: 'days', label: 'Days back', kind: 'number', min: 1, max: 3650, required: true },
              { name: 'percent', label: 'Percent of the messages', kind: 'number', min: 1, max: 100, required: true },
            ]}
            initial={{ days: 30, percent: 100 }}
            onSubmit={({ days, percent }) =>
              act({
                run: () =>
                  client.moderation.rules.dryRun.start({
                    ruleId,
                    from: Math.floor(Date.now() / 1000) - Number(days) * 86_400,
                    sample: Number(percent) / 100,
                  }),
                done: 'The dry run has begun',
                refresh: [key],
              })
            }
          />
        ))
      }
    >
      <Loaded query={run}>
        {(run) =>
          run === null ? (
            <Text size="sm" c="dimmed">
              There was none yet.
            </Text>
          ) : (
            <Stack gap="xs">
              <Progress
                value={run.progress * 100}
                aria-label="Progress of the dry run"
                animated={run.status === 'running'}
              />
              <Facts
                facts={{
                  State: <Status of={run.status} />,
                  Error: run.error,
                  'Looked at': run.looked,
                  Hits: run.hits,
                  Precision:
                    run.precision &&
                    `${(run.precision.share * 100).toFixed(1)} % of ${run.precision.labelled} labelled (${(run.precision.low * 100).toFixed(1)} to ${(run.precision.high * 100).toFixed(1)} %)`,
                }}
              />
              {run.examples.length > 0 && <ReadingBar of={wholeApp} />}
              <SmallTable
                label="Examples"
                rows={run.examples}
                idOf={({ messageId }) => messageId}
                empty={
                  run.looked === 0 && run.status === 'done'
                    ? 'No message was sent in that time.'
                    : 'It has found nothing.'
                }
                columns={[
                  { label: 'Sender', cell: ({ sender }) => sender },
                  { label: 'Text', cell: ({ text }) => text ?? <span className="hidden-text">left out</span> },
                  { label: 'Found', cell: ({ match }) => match?.text },
                  {
                    label: 'Label',
                    cell: (example) =>
                      can('rules') ? (
                        <Group gap={4} wrap="nowrap">
                          {(['right', 'wrong'] as const).map((one) => (
                            <Button
                              key={one}
                              size="compact-xs"
                              variant={example.label === one ? 'filled' : 'default'}
                              aria-pressed={example.label === one}
                              onClick={() => void label(example, one)}
                            >
                              {one}
                            </Button>
                          ))}
                        </Group>
                      ) : (
                        (example.label ?? 'none')
                      ),
                  },
                ]}
              />
            </Stack>
          )
        }
      </Loaded>
    </Section>
  )
}

const listFields: readonly Field[] = [
  { name: 'name', label: 'Name', required: true },
  { name: 'description', label: 'Description', kind: 'long' },
  {
    name: 'category',
    label: 'What it holds',
    kind: 'choice',
    options: ['word', 'pattern', 'sentence-similarity', 'custom-api', 'prompt'],
    required: true,
  },
  { name: 'terms', label: 'Words, patterns, sentences or prompts', kind: 'long', hint: 'One a line' },
  { name: 'url', label: 'Address of an engine', hint: 'Of category custom-api' },
]

/** Where the terms of a list go, by its category. */
function termsOf(terms: unknown, category: unknown): Values {
  if (category === 'custom-api') return {}
  const lines = String(terms ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const name =
    category === 'sentence-similarity' ? 'disallowedSentences' : category === 'prompt' ? 'prompts' : 'searchTerms'
  return { [name]: lines }
}

/** What makes a list of what was put in. */
function listIn({ terms, ...others }: Values): Values {
  return { ...others, ...(terms !== undefined && termsOf(terms, others.category)) }
}

/** What changes a list, of what was changed: another category takes the terms with it. */
function changeIn({ terms, ...others }: Values, list: KeywordList): Values {
  const { category = list.category } = others
  const isWhole = terms !== undefined || others.category !== undefined
  return { ...others, ...(isWhole && termsOf(terms ?? linesOf(list), category)) }
}

const linesOf = ({ searchTerms, disallowedSentences, prompts }: KeywordList) =>
  (searchTerms ?? disallowedSentences ?? prompts ?? []).join('\n')

const comparedInLists = {
  name: 'Name',
  description: 'Description',
  category: 'What it holds',
  url: 'Address of an engine',
  username: 'User name at the engine',
  searchTerms: 'Words and patterns',
  disallowedSentences: 'Sentences',
  prompts: 'Prompts',
}

/** How a list was before, and what has changed since. */
function RevisionsOf({ list }: { readonly list: KeywordList }) {
  const { appId, client } = useApp()
  const [{ than }, change] = useAddress()
  const { id: keywordId } = list
  const revisions = useQuery({
    queryKey: ['list-revisions', appId, keywordId, list.revisionId],
    queryFn: async () => (await client.moderation.keywords.revisions({ keywordId, limit: mostRevisions })).data,
  })
  const then = useQuery({
    queryKey: ['list-revision', appId, keywordId, than],
    queryFn: () => client.moderation.keywords.revision({ keywordId, revisionId: than ?? '' }),
    enabled: than !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Section title={`Revisions of ${list.name}`}>
      <Loaded query={revisions}>
        {(revisions) => (
          <SearchedTable
            label="Revisions"
            name="revision"
            textOf={({ revisionId }) => revisionId}
            rows={revisions}
            idOf={({ revisionId }) => revisionId}
            empty="There is none."
            columns={[
              { label: 'Revision', cell: ({ revisionId, active }) => `${revisionId}${active ? ' (current)' : ''}` },
              { label: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
              { label: 'Terms', cell: ({ terms }) => terms },
              {
                label: 'Compare',
                isShown: revisions.some(({ active }) => !active),
                cell: ({ revisionId, active }) =>
                  !active && (
                    <CompareButton
                      revisionId={revisionId}
                      isOpen={than === revisionId}
                      onOpen={(next) => change({ than: next })}
                    />
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {than !== undefined && (
        <Loaded query={then}>
          {(then) => <Compare title={`${than} and now`} then={then} now={list} names={comparedInLists} />}
        </Loaded>
      )}
    </Section>
  )
}

/** Lists of words, patterns and sentences that rules refer to. */
export function Lists() {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const [{ list: open }, change] = useAddress()
  const lists = useQuery({
    queryKey: ['lists', appId],
    queryFn: async () => (await client.moderation.keywords.list({ limit: 100 })).data,
  })
  const refresh = [['lists', appId]]
  return (
    <Section
      title="Lists"
      actions={
        can('rules') && (
          <FormButton
            button="Create a list"
            size="xs"
            title="Create a list"
            fields={[{ name: 'id', label: 'ID', hint: 'Letters, digits, - and _', required: true }, ...listFields]}
            initial={{ category: 'word' }}
            onSubmit={(values) =>
              save({
                run: () => client.moderation.keywords.create(listIn(values) as never),
                done: 'The list was created',
                refresh,
              })
            }
          />
        )
      }
    >
      <Loaded query={lists}>
        {(lists) => (
          <>
            {lists
              .filter(({ id }) => id === open)
              .map((list) => (
                <RevisionsOf key={list.id} list={list} />
              ))}
            <SmallTable
              label="Lists"
              rows={lists}
              idOf={({ id }) => id}
              empty="There are no lists."
              columns={[
                {
                  label: 'Name',
                  cell: ({ id, name }) => (
                    <Anchor
                      component="button"
                      type="button"
                      size="sm"
                      aria-expanded={open === id}
                      onClick={() => change({ list: open === id ? undefined : id, than: undefined })}
                    >
                      {name}
                    </Anchor>
                  ),
                },
                { label: 'Holds', cell: ({ category }) => category },
                {
                  label: 'Terms',
                  cell: (list) =>
                    open === list.id ? (
                      <Code block className="code" miw="8rem">
                        {linesOf(list) || list.url}
                      </Code>
                    ) : (
                      linesOf(list).split('\n').filter(Boolean).length
                    ),
                },
                { label: 'Revision', cell: ({ revisionId }) => revisionId },
                { label: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                {
                  label: 'Actions',
                  isShown: can('rules') && lists.some((list) => list.default !== true),
                  cell: (list) =>
                    list.default !== true && (
                      <Group gap={4} wrap="nowrap">
                        <FormButton
                          button="Edit"
                          size="compact-xs"
                          variant="default"
                          title={`Edit ${list.name}`}
                          fields={listFields}
                          initial={{ ...list, terms: linesOf(list) }}
                          changesOnly
                          onSubmit={(values) =>
                            save({
                              run: () =>
                                client.moderation.keywords.update({
                                  ...{ keywordId: list.id, ...changeIn(values, list) },
                                } as never),
                              done: 'There is a new revision',
                              refresh,
                            })
                          }
                        />
                        <Button
                          size="compact-xs"
                          variant="light"
                          color="red"
                          onClick={() =>
                            void act({
                              run: () => client.moderation.keywords.delete({ keywordId: list.id }),
                              done: 'The list was deleted',
                              refresh,
                              question: {
                                title: `Delete ${list.name}?`,
                                text: 'Rules that name it find nothing by it any more.',
                                label: 'Delete',
                              },
                            })
                          }
                        >
                          Delete
                        </Button>
                      </Group>
                    ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </Section>
  )
}

const reasonFields: readonly Field[] = [
  { name: 'name', label: 'Name', required: true },
  { name: 'description', label: 'Description', kind: 'long' },
]

/** Reasons that users choose from when they flag a message. */
export function Reasons() {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const refresh = [['reasons', appId]]
  const reasons = useQuery({
    queryKey: ['reasons', appId],
    queryFn: async (): Promise<readonly ListedReason[]> => (await client.moderation.reasons.list({ limit: 100 })).data,
  })
  return (
    <Section
      title="Reasons for flagging a message"
      actions={
        can('rules') && (
          <FormButton
            button="Create a reason"
            size="xs"
            title="Create a reason"
            fields={[{ name: 'id', label: 'ID', hint: 'Letters, digits, - and _', required: true }, ...reasonFields]}
            onSubmit={(values) =>
              save({
                run: () => client.moderation.reasons.create(values as never),
                done: 'The reason was created',
                refresh,
              })
            }
          />
        )
      }
    >
      <Loaded query={reasons}>
        {(reasons) => (
          <SmallTable
            label="Reasons"
            rows={reasons}
            idOf={({ id }) => id}
            empty="There are no reasons."
            columns={[
              { label: 'ID', cell: ({ id }) => id },
              { label: 'Name', cell: ({ name }) => name },
              { label: 'Description', cell: ({ description }) => description },
              {
                label: 'Actions',
                isShown: can('rules') && reasons.some((reason) => !reason.default),
                cell: (reason) =>
                  !reason.default && (
                    <Group gap={4} wrap="nowrap">
                      <FormButton
                        button="Edit"
                        size="compact-xs"
                        variant="default"
                        title={`Edit ${reason.name}`}
                        fields={reasonFields}
                        initial={{ ...reason }}
                        changesOnly
                        onSubmit={(values) =>
                          save({
                            run: () => client.moderation.reasons.update({ id: reason.id, ...values } as never),
                            done: 'The reason was changed',
                            refresh,
                          })
                        }
                      />
                      <Button
                        size="compact-xs"
                        variant="light"
                        color="red"
                        onClick={() =>
                          void act({
                            run: () => client.moderation.reasons.delete({ id: reason.id }),
                            done: 'The reason was deleted',
                            refresh,
                            question: {
                              title: `Delete ${reason.name}?`,
                              text: 'Flags keep the name that it had.',
                              label: 'Delete',
                            },
                          })
                        }
                      >
                        Delete
                      </Button>
                    </Group>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
