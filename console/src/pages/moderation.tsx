import { Alert, Badge, Button, Checkbox, Group, Kbd, Paper, Select, Stack, Tabs, Text, Textarea } from '@mantine/core'
import type { BlockedMessage, FlaggedMessage, Message, ReviewedMessage } from '@parley/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { codeOf } from '../api.ts'
import { texts, wholeApp } from '../questions.ts'
import { useApp, useCan, useMe } from '../shell/session.tsx'
import { useAct } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { conversationAddress } from '../ui/addresses.ts'
import { countOf } from '../ui/figures.ts'
import { useNextPage, useRows } from '../ui/lists.ts'
import { MessageView, textOf } from '../ui/MessageView.tsx'
import { notify, notifyError } from '../ui/notices.tsx'
import { Facts, Page, Status, Time } from '../ui/page.tsx'
import { ReadingBar, useReading } from '../ui/Reading.tsx'
import { Empty, isShown, Loaded, Loading, Problem, staleness } from '../ui/states.tsx'
import { Table } from '../ui/Table.tsx'
import { Engines } from './moderation-engines.tsx'
import { Lists, Reasons, Rules } from './moderation-rules.tsx'

const tabs = [
  ['queue', 'Queue'],
  ['reviewed', 'Reviewed'],
  ['rules', 'Rules'],
  ['lists', 'Lists'],
  ['reasons', 'Reasons'],
  ['engines', 'Engines'],
] as const

/** What was flagged or held back, who decides about it, and by which rules. */
export function Moderation() {
  const can = useCan()
  const [{ tab = 'queue' }, change] = useAddress()
  return (
    <Page title="Moderation">
      <Tabs value={tab} onChange={(next) => change({ tab: next ?? undefined })} keepMounted={false}>
        <Tabs.List>
          {tabs
            .filter(([value]) => value !== 'engines' || can('configure'))
            .map(([value, label]) => (
              <Tabs.Tab key={value} value={value}>
                {label}
              </Tabs.Tab>
            ))}
        </Tabs.List>
        <Tabs.Panel value="queue" pt="md">
          <Queue />
        </Tabs.Panel>
        <Tabs.Panel value="reviewed" pt="md">
          <Reviewed />
        </Tabs.Panel>
        <Tabs.Panel value="rules" pt="md">
          <Rules />
        </Tabs.Panel>
        <Tabs.Panel value="lists" pt="md">
          <Lists />
        </Tabs.Panel>
        <Tabs.Panel value="reasons" pt="md">
          <Reasons />
        </Tabs.Panel>
        <Tabs.Panel value="engines" pt="md">
          <Engines />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

type Kind = 'flagged' | 'blocked'
type Decision = 'approved' | 'disapproved'

/** One message that waits for a decision. */
interface Case {
  readonly id: string
  readonly kind: Kind
  readonly message: Message
  readonly waitsSince: number
  readonly claim: FlaggedMessage['claim']
  readonly flagged?: FlaggedMessage
  readonly blocked?: BlockedMessage
}

const decisions: readonly {
  readonly decision: Decision
  readonly label: string
  readonly key: string
  readonly color: string
}[] = [
  { decision: 'approved', label: 'Approve', key: 'a', color: 'teal.9' },
  { decision: 'disapproved', label: 'Remove', key: 'r', color: 'red.9' },
]

function useCases(kind: Kind) {
  const { appId, client } = useApp()
  const key = [texts, appId, 'queue', kind]
  const list = useRows<FlaggedMessage | BlockedMessage>(
    key,
    (place) =>
      kind === 'flagged'
        ? client.moderation.flagged.list({ limit: 50, order: 'oldest', ...place })
        : client.moderation.blocked.list({ limit: 50, order: 'oldest', reviewed: false, ...place }),
    { refetchInterval: 10_000 },
  )
  const cases = list.rows.map((row): Case => {
    if ('message' in row) {
      const { message, claim, createdAt } = row
      return { id: message.id, kind, message, waitsSince: createdAt, claim, blocked: row }
    }
    return { id: row.id, kind, message: row as Message, waitsSince: row.openedAt, claim: row.claim, flagged: row }
  })
  return { key, list, cases }
}

/** Messages that wait, one beside the list, by keys too. */
function Queue() {
  const { appId, client } = useApp()
  const can = useCan()
  const me = useMe()
  const queries = useQueryClient()
  const [{ of = 'flagged', at }, change] = useAddress()
  const kind: Kind = of === 'blocked' ? 'blocked' : 'flagged'
  const { key, list, cases } = useCases(kind)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [last, setLast] = useState<{
    readonly kind: Kind
    readonly ids: readonly string[]
    readonly decision: Decision
  }>()
  const { current, index, isGone, leave } = useCurrent(cases, kind, at)
  useNextPage(list, index)
  const total = useQuery({
    queryKey: ['queue-total', appId],
    queryFn: () => client.moderation.queue(),
    refetchInterval: 10_000,
  })

  const refresh = () =>
    Promise.all(
      [key, ['queue-total', appId], [texts, appId, 'reviewed']].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    )

  const decide = async (ids: readonly string[], decision: Decision, of: Kind = kind, override = false) => {
    const others = cases.filter(({ id }) => !ids.includes(id))
    const next = others.find((one) => cases.indexOf(one) >= index) ?? others[0]
    let done = ids
    // The other decision is about what was decided last, which is in view no more.
    const seen = override ? [] : cases.filter(({ id }) => ids.includes(id))
    const editedAt = Object.fromEntries(seen.map(({ id, message }) => [id, message.editedAt ?? null]))
    try {
      const review = of === 'flagged' ? client.moderation.flagged : client.moderation.blocked
      if (ids.length === 1) {
        const [id] = ids as [string]
        await review.review({
          ...{ id, status: decision, reviewedBy: me.email },
          ...(override && { override }),
          ...(id in editedAt && { editedAt: editedAt[id] ?? null }),
        })
      } else {
        const outcomes: Record<string, { success?: boolean }> = await review.reviewSeveral({
          ...{ ids: [...ids], status: decision, reviewedBy: me.email, editedAt },
          ...(override && { override }),
        })
        done = ids.filter((id) => outcomes[id]?.success !== false)
        if (done.length < ids.length) {
          const refused = `${ids.length - done.length} of ${ids.length}`
          notifyError(new Error(`${refused} were not decided: somebody else has them, or they were edited.`))
        }
      }
      if (done.length > 0) {
        notify(decision === 'approved' ? `Approved: ${done.length}` : `Removed: ${done.length}`)
        setLast({ kind: of, ids: done, decision })
      }
      setChosen(new Set())
      leave(done)
      change({ at: next?.id })
    } catch (error) {
      if (codeOf(error) === 'ERR_MESSAGE_ALREADY_REVIEWED' || codeOf(error) === 'ERR_MESSAGE_ALREADY_CLAIMED') {
        leave(ids)
        change({ at: next?.id })
      }
      notifyError(error)
    }
    await refresh()
  }
  /** The other decision about what was decided last. */
  const undo = async () => {
    if (last === undefined) return
    const other: Decision = last.decision === 'approved' ? 'disapproved' : 'approved'
    await decide(last.ids, other, last.kind, true)
  }
  const claim = async (id: string) => {
    try {
      const { ids } = await client.moderation.claims.add({ list: kind, reviewer: me.email, ids: [id] })
      if (!ids.includes(id)) notifyError(new Error('Not claimed: somebody else has it, or has decided about it.'))
    } catch (error) {
      notifyError(error)
    }
    await refresh()
  }
  const release = async (id: string) => {
    try {
      await client.moderation.claims.release({ reviewer: me.email, ids: [id] })
    } catch (error) {
      notifyError(error)
    }
    await refresh()
  }
  const go = (steps: number) => {
    // The next one has come to the place of one that is gone.
    const to = index + (isGone && steps > 0 ? steps - 1 : steps)
    const next = cases[Math.min(cases.length - 1, Math.max(0, to))]
    if (next !== undefined) change({ at: next.id })
  }

  useKeys({
    j: () => go(1),
    k: () => go(-1),
    ...(can('moderate') &&
      current !== undefined &&
      !isGone && {
        a: () => void decide([current.id], 'approved'),
        r: () => void decide([current.id], 'disapproved'),
        c: () => void claim(current.id),
        x: () => toggle(current.id),
      }),
    ...(can('moderate') && { u: () => void undo() }),
  })
  const toggle = (id: string) =>
    setChosen((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]))

  const { query } = list
  return (
    <Stack>
      <ReadingBar of={wholeApp} />
      <Group justify="space-between">
        <Select
          aria-label="Which messages"
          data={[
            { value: 'flagged', label: `Flagged (${total.data?.flagged.open ?? '–'})` },
            { value: 'blocked', label: `Blocked (${total.data?.blocked.open ?? '–'})` },
          ]}
          value={kind}
          allowDeselect={false}
          onChange={(next) => {
            setChosen(new Set())
            change({ of: next ?? undefined, at: undefined })
          }}
        />
        {can('moderate') && (
          <Text size="xs" c="dimmed" visibleFrom="sm">
            <Kbd>j</Kbd> <Kbd>k</Kbd> next, before · <Kbd>a</Kbd> approve · <Kbd>r</Kbd> remove · <Kbd>c</Kbd> claim ·{' '}
            <Kbd>x</Kbd> choose · <Kbd>u</Kbd> the other decision
          </Text>
        )}
      </Group>
      {chosen.size > 0 && (
        <Alert color="blue">
          <Group>
            <Text size="sm">{chosen.size} chosen</Text>
            {decisions.map(({ decision, label, color }) => (
              <Button
                key={decision}
                size="xs"
                color={color}
                variant="light"
                onClick={() => void decide([...chosen], decision)}
              >
                {label} all
              </Button>
            ))}
            <Button size="xs" variant="default" onClick={() => setChosen(new Set())}>
              Choose none
            </Button>
          </Group>
        </Alert>
      )}
      {query.isPending && <Loading />}
      {query.isLoadingError && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {staleness(query)}
      {query.isSuccess && cases.length === 0 && (
        <Empty>
          <div>{kind === 'flagged' ? 'Nothing waits for a decision.' : 'Nothing was held back.'}</div>
          <Others of={kind} open={total.data} onShow={(other) => change({ of: other, at: undefined })} />
        </Empty>
      )}
      {current !== undefined && isShown(query) && (
        <Group align="flex-start" wrap="wrap">
          <Stack gap={4} w={{ base: '100%', md: 300 }} component="ul" p={0} m={0} className="cases">
            {cases.map((one) => (
              <CaseLine
                key={one.id}
                of={one}
                isCurrent={one.id === current.id}
                isChosen={chosen.has(one.id)}
                onChoose={can('moderate') ? () => toggle(one.id) : undefined}
                onOpen={() => change({ at: one.id })}
              />
            ))}
            {query.hasNextPage && (
              <li>
                <Button fullWidth size="xs" variant="default" onClick={() => void query.fetchNextPage()}>
                  More
                </Button>
              </li>
            )}
          </Stack>
          <Stack flex={1} miw={{ base: '100%', md: 320 }}>
            <CaseView of={current} />
            {isGone && <Alert color="gray">Somebody else has decided about this message, or it is gone.</Alert>}
            {can('moderate') && !isGone && (
              <Group>
                {decisions.map(({ decision, label, color }) => (
                  <Button key={decision} color={color} onClick={() => void decide([current.id], decision)}>
                    {label}
                  </Button>
                ))}
                <Button variant="default" onClick={() => void claim(current.id)}>
                  {current.claim === undefined ? 'Claim' : 'Claim again'}
                </Button>
                {current.claim?.reviewer === me.email && (
                  <Button variant="default" onClick={() => void release(current.id)}>
                    Give back
                  </Button>
                )}
                {last !== undefined && (
                  <Button variant="subtle" onClick={() => void undo()}>
                    {last.decision === 'approved' ? 'Remove' : 'Approve'} what was decided last
                  </Button>
                )}
              </Group>
            )}
            <Notes key={current.id} messageId={current.id} />
          </Stack>
        </Group>
      )}
      {cases.length === 0 && last !== undefined && can('moderate') && (
        <Button variant="subtle" onClick={() => void undo()}>
          {last.decision === 'approved' ? 'Remove' : 'Approve'} what was decided last
        </Button>
      )}
    </Stack>
  )
}

/** What waits in the other list, for those who look at an empty one. */
function Others(props: {
  readonly of: Kind
  readonly open: { readonly [kind in Kind]: { readonly open: number } } | undefined
  readonly onShow: (other: Kind) => void
}) {
  const { of, open, onShow } = props
  const other = of === 'flagged' ? 'blocked' : 'flagged'
  const count = open?.[other].open ?? 0
  if (count === 0) return null
  return (
    <Button size="xs" variant="default" mt="sm" onClick={() => onShow(other)}>
      Show what was {other === 'blocked' ? 'held back' : 'flagged'} ({count})
    </Button>
  )
}

/**
 * The case in view: the one that is asked for, where the list has it, or the first. It stays in view until another one is asked for, also
 * when it leaves the list, so that no key is meant for another one.
 */
function useCurrent(cases: readonly Case[], kind: Kind, at: string | undefined) {
  const viewed = useRef<{ readonly one: Case; readonly index: number }>(undefined)
  const left = useRef(new Set<string>())
  const { current: last } = viewed
  const before = last?.one.kind === kind && !left.current.has(last.one.id) ? last : undefined
  const placeOf = (id: string | undefined) => cases.findIndex((one) => one.id === id)
  const asked = placeOf(at)
  const found = asked === -1 ? placeOf(before?.one.id) : asked
  const isGone = found === -1 && before !== undefined
  const index = isGone ? before.index : Math.max(0, found)
  const current = isGone ? before.one : cases[index]
  useEffect(() => {
    viewed.current = current && { one: current, index }
    // Whoever comes back and leaves once more has been decided about by somebody else.
    for (const id of left.current) if (!cases.some((one) => one.id === id)) left.current.delete(id)
  })
  /** Nobody needs to be told that these leave the list. */
  const leave = (ids: readonly string[]) => {
    for (const one of ids) left.current.add(one)
  }
  return { current, index, isGone, leave }
}

/** Keys that are held down go on from one to the next; others count once. */
const repeating = ['j', 'k']

/** Keys without others beside them, and not while somebody writes. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const known = useRef(keys)
  known.current = keys
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const { target } = event
      const isElsewhere =
        target instanceof Element &&
        target.closest('input, textarea, select, [contenteditable], [role=dialog]') !== null
      const act = known.current[event.key]
      if (isElsewhere || act === undefined) return
      event.preventDefault()
      if (!event.repeat || repeating.includes(event.key)) act()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

function CaseLine(props: {
  readonly of: Case
  readonly isCurrent: boolean
  readonly isChosen: boolean
  readonly onChoose: (() => void) | undefined
  readonly onOpen: () => void
}) {
  const { of, isCurrent, isChosen, onChoose, onOpen } = props
  const line = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isCurrent) line.current?.scrollIntoView({ block: 'nearest' })
  }, [isCurrent])
  const text = textOf(of.message)
  return (
    <Paper
      component="li"
      withBorder
      p={6}
      ref={line}
      className="in-sight"
      bg={isCurrent ? 'var(--mantine-primary-color-light)' : ''}
    >
      <Group wrap="nowrap" gap="xs">
        {onChoose !== undefined && (
          <Checkbox size="xs" checked={isChosen} onChange={onChoose} aria-label={`Choose the message ${of.id}`} />
        )}
        <Button
          variant="transparent"
          size="compact-sm"
          p={0}
          onClick={onOpen}
          aria-current={isCurrent}
          justify="flex-start"
          c="inherit"
        >
          <Text size="sm" truncate maw={210}>
            {of.message.sender}: {text ?? of.message.type}
          </Text>
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        <Time at={of.waitsSince} /> {of.claim !== undefined && `· ${of.claim.reviewer}`}
      </Text>
    </Paper>
  )
}

/** A message with why it is here. */
function CaseView({ of: { message, flagged, blocked, claim } }: { readonly of: Case }) {
  const { appId } = useApp()
  return (
    <Stack gap="xs">
      <MessageView
        message={message}
        actions={
          <Button
            component={Link}
            to={conversationAddress(appId, message.conversationId, message.id)}
            size="compact-xs"
            variant="default"
          >
            In its conversation
          </Button>
        }
      />
      <Around message={message} />
      <Facts
        facts={{
          'Claimed by': claim && (
            <>
              {claim.reviewer} until <Time at={claim.until} />
            </>
          ),
          Flags: flagged?.flaggedCount,
          'Flagged by': flagged?.flaggedBy.map(({ uid, reasonName, remark }) => (
            <Text size="sm" key={uid}>
              {uid}
              {reasonName !== undefined && `: ${reasonName}`}
              {remark !== undefined && ` (${remark})`}
            </Text>
          )),
          'Flagged by rules': flagged?.flaggedByRules?.map(({ ruleName }) => ruleName).join(', '),
          Rule: blocked?.ruleName ?? blocked?.ruleId,
          Revision: blocked?.revisionId,
          Found: blocked?.match?.text,
          'Sure, in percent': blocked?.confidence,
          'The engine said': blocked?.reason,
          'Was done': blocked?.action?.join(', '),
        }}
      />
    </Stack>
  )
}

/** What was said before and after a message, for those who read it. */
function Around({ message }: { readonly message: Message }) {
  const { appId, client } = useApp()
  const { conversationId, id, sentAt } = message
  const { open } = useReading(conversationId)
  const around = useQuery({
    queryKey: [texts, appId, 'around', id],
    queryFn: async () => {
      const ask = async (affix: 'prepend' | 'append', limit: number) =>
        (await client.messages.list({ conversationId, affix, id, sentAt, limit })).data
      const [before, after] = await Promise.all([ask('prepend', 3), ask('append', 3)])
      return { before, after }
    },
    enabled: open !== undefined,
  })
  if (open === undefined) return null
  return (
    <Loaded query={around}>
      {({ before, after }) =>
        before.length + after.length > 0 && (
          <ol className="around" aria-label="Around it">
            {before.map(lineOf)}
            <li>
              <b>this message</b>
            </li>
            {after.map(lineOf)}
          </ol>
        )
      }
    </Loaded>
  )
}

function lineOf(message: Message) {
  const { id, sender, type, deletedAt } = message
  return (
    <li key={id} dir="auto">
      {sender}: {textOf(message) ?? (deletedAt === undefined ? type : 'deleted')}
    </li>
  )
}

/** What reviewers wrote beside a message. */
function Notes({ messageId }: { readonly messageId: string }) {
  const { appId, client } = useApp()
  const can = useCan()
  const me = useMe()
  const act = useAct()
  const [text, setText] = useState('')
  const key = ['notes', appId, messageId]
  const notes = useQuery({ queryKey: key, queryFn: () => client.moderation.notes.list({ messageId }) })
  const add = () =>
    act({
      run: async () => {
        await client.moderation.notes.add({ messageId, text: text.trim(), author: me.email })
        // What was typed meanwhile is not sent yet.
        setText((now) => (now === text ? '' : now))
      },
      done: 'The note was added',
      refresh: [key],
    })
  return (
    <Stack gap="xs">
      <Loaded query={notes}>
        {(notes) =>
          notes.map(({ id, text, author, createdAt }) => (
            <Paper key={id} withBorder p="xs">
              <Text size="sm">{text}</Text>
              <Group gap="xs">
                <Text size="xs" c="dimmed">
                  {author}, <Time at={createdAt} />
                </Text>
                {can('moderate') && (
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    onClick={() =>
                      void act({
                        run: () => client.moderation.notes.delete({ messageId, noteId: id }),
                        done: 'The note was deleted',
                        refresh: [key],
                        question: { title: 'Delete this note for good?', text: `“${text}”`, label: 'Delete' },
                      })
                    }
                  >
                    Delete
                  </Button>
                )}
              </Group>
            </Paper>
          ))
        }
      </Loaded>
      {can('moderate') && (
        <Group align="flex-end">
          <Textarea
            label="Note"
            autosize
            minRows={1}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            flex={1}
          />
          <Button variant="default" disabled={text.trim() === ''} onClick={() => void add()}>
            Add
          </Button>
        </Group>
      )}
    </Stack>
  )
}

/** What was decided, newest first. */
function Reviewed() {
  const { appId, client } = useApp()
  const [{ decision = '' }, change] = useAddress()
  const list = useRows<ReviewedMessage>([texts, appId, 'reviewed', decision], (place) =>
    client.moderation.reviewed.list({
      limit: 100,
      order: 'newest',
      ...(decision !== '' && { decision: decision as ReviewedMessage['decision'] }),
      ...place,
    }),
  )
  return (
    <Stack>
      <ReadingBar of={wholeApp} />
      <Select
        aria-label="Decision"
        placeholder="Any decision"
        data={['approved', 'disapproved', 'rejected', 'reviewed']}
        clearable
        value={decision || null}
        onChange={(next) => change({ decision: next ?? undefined })}
        w={180}
      />
      <Table
        label="Reviewed messages"
        list={list}
        idOf={({ message }) => message.id}
        empty="Nothing was decided yet."
        height="max(16rem, calc(100dvh - 20rem))"
        columns={[
          {
            label: 'Message',
            width: '2fr',
            cell: ({ message }) => (
              <Link to={conversationAddress(appId, message.conversationId, message.id)}>
                {message.sender}: {textOf(message) ?? message.type}
              </Link>
            ),
          },
          { label: 'Decision', width: '8rem', cell: ({ decision }) => <Status of={decision} /> },
          { label: 'By', cell: ({ reviewedBy }) => reviewedBy },
          { label: 'When', width: '11rem', cell: ({ reviewedAt }) => <Time at={reviewedAt} /> },
          { label: 'Because of', cell: ({ ruleName, flaggedCount }) => ruleName ?? countOf(flaggedCount, 'flag') },
          {
            label: 'List',
            width: '6rem',
            cell: ({ list }) => (
              <Badge variant="light" color="gray" tt="none">
                {list}
              </Badge>
            ),
          },
        ]}
      />
    </Stack>
  )
}
