import { ParleyError, type Peer } from '../../../src/index.ts'
import type { Scene, Tab } from './world.ts'

type Step = (scene: Scene, tab: Tab) => Promise<void> | void

const peersOf = ({ uids, guids }: Scene, tab: Tab): Peer[] => [
  ...uids.filter((uid) => uid !== tab.uid).map((uid) => ({ uid })),
  ...guids.map((guid) => ({ guid })),
]
const nameOf = (peer: Peer) => ('uid' in peer ? peer.uid : peer.guid)

/** What is refused is refused: somebody has removed the message or the user meanwhile. */
const allowed = (made: Promise<unknown>) =>
  made.catch((error: unknown) => {
    if (!(error instanceof ParleyError) && (error as Error)?.name !== 'AbortError') throw error
  })

const anyChat = ({ random }: Scene, tab: Tab) => (tab.chats.size > 0 ? random.pick([...tab.chats.values()]) : undefined)
const anyMessage = (scene: Scene, tab: Tab, isOwn = false) => {
  const messages = anyChat(scene, tab)
    ?.getSnapshot()
    .messages.filter(({ category, sender, deletedAt }) => {
      return category === 'message' && deletedAt === undefined && (!isOwn || sender === tab.uid)
    })
  return messages !== undefined && messages.length > 0 ? scene.random.pick(messages) : undefined
}

let texts = 0

/** What users do, and what happens to them and to their network; the number is how often. */
const steps: Record<string, readonly [number, Step]> = {
  send: [
    30,
    (scene, tab) => {
      const chat = anyChat(scene, tab)
      const peer = chat?.peer ?? scene.random.pick(peersOf(scene, tab))
      const text = `text ${++texts}`
      const muid = chat?.send({ text }) ?? tab.live.send(peer, { text })
      scene.sent.set(muid, { uid: tab.uid, peer, text })
    },
  ],
  open: [
    8,
    (scene, tab) => {
      const peer = scene.random.pick(peersOf(scene, tab))
      if (!tab.chats.has(nameOf(peer))) tab.chats.set(nameOf(peer), tab.live.openConversation(peer))
    },
  ],
  close: [
    3,
    (scene, tab) => {
      if (tab.chats.size === 0) return
      const [name, chat] = scene.random.pick([...tab.chats])
      tab.chats.delete(name)
      chat.close()
    },
  ],
  older: [
    4,
    (scene, tab) =>
      void anyChat(scene, tab)
        ?.loadOlder()
        .catch(() => {}),
  ],
  newest: [
    1,
    (scene, tab) =>
      void anyChat(scene, tab)
        ?.loadNewest()
        .catch(() => {}),
  ],
  around: [
    1,
    (scene, tab) => {
      const chat = anyChat(scene, tab)
      const messages = chat?.getSnapshot().messages ?? []
      if (messages.length > 0) void chat?.loadAround(scene.random.pick(messages).id).catch(() => {})
    },
  ],
  newer: [
    3,
    (scene, tab) =>
      void anyChat(scene, tab)
        ?.loadNewer()
        .catch(() => {}),
  ],
  read: [8, (scene, tab) => anyChat(scene, tab)?.markRead()],
  'read up to': [
    2,
    (scene, tab) => {
      const chat = anyChat(scene, tab)
      const messages = chat?.getSnapshot().messages ?? []
      if (messages.length > 0) chat?.markRead(scene.random.pick(messages).id)
    },
  ],
  react: [
    10,
    (scene, tab) => {
      const message = anyMessage(scene, tab)
      const reaction = scene.random.pick(['a', 'b'])
      if (message !== undefined) void allowed(tab.live.react(message.id, reaction, scene.random.chance(0.6)))
    },
  ],
  edit: [
    5,
    (scene, tab) => {
      const message = anyMessage(scene, tab, true)
      if (message !== undefined) void allowed(tab.live.edit(message.id, { text: `edited ${++texts}` }))
    },
  ],
  delete: [
    3,
    (scene, tab) => {
      const message = anyMessage(scene, tab, true)
      const permanent = scene.random.chance(0.3)
      if (message === undefined) return
      if (permanent && message.muid !== undefined) scene.sent.delete(message.muid)
      void allowed(tab.live.delete(message.id, { permanent }))
    },
  ],
  thread: [
    4,
    (scene, tab) => {
      const chat = anyChat(scene, tab)
      const messages = chat?.getSnapshot().messages.filter(({ category }) => category === 'message') ?? []
      if (chat === undefined || messages.length === 0) return
      const { id } = scene.random.pick(messages)
      const thread = tab.threads.get(id) ?? tab.live.openThread(chat.peer, id)
      tab.threads.set(id, thread)
      const muid = thread.send({ text: `reply ${++texts}` })
      // The message that it hangs on may be removed for good with all its replies.
      scene.refused.add(muid)
    },
  ],
  members: [
    2,
    (scene, tab) => {
      tab.members ??= tab.live.openMembers(scene.guids[0] as string)
    },
  ],
  typing: [2, (scene, tab) => anyChat(scene, tab)?.setTyping()],
  pin: [
    2,
    async (scene, tab) => {
      const message = anyMessage(scene, tab)
      const method = scene.random.chance(0.7) ? 'POST' : 'DELETE'
      if (message !== undefined) await scene.ground.call(method, `/messages/${message.id}/pin`, {}, { as: tab.uid })
    },
  ],
  kick: [
    1,
    async (scene, tab) => {
      const guid = scene.guids[0]
      if (tab.uid !== scene.uids[0]) await scene.ground.call('DELETE', `/groups/${guid}/members/${tab.uid}`, {})
    },
  ],
  rejoin: [
    2,
    async (scene) => {
      const guid = scene.guids[0]
      await scene.ground.call('POST', `/groups/${guid}/members`, { participants: scene.uids.slice(1) })
    },
  ],
  drop: [4, (_, tab) => tab.line.drop()],
  'cut for a moment': [
    3,
    (scene, tab) => {
      tab.line.cut()
      setTimeout(() => tab.line.heal(), scene.random.between(10, 600))
    },
  ],
  'half open': [3, (_, tab) => tab.line.halfOpen()],
  'lose answers': [4, (scene, tab) => tab.line.loseAnswers(scene.random.between(1, 3))],
  delay: [
    3,
    (scene, tab) => {
      tab.line.delay(scene.random.between(5, 120))
      setTimeout(() => tab.line.delay(0), scene.random.between(50, 800))
    },
  ],
  'double a send': [
    2,
    async (scene, tab) => {
      // What a network that repeats requests does: the same muid once more, behind the client's back.
      const known = [...scene.sent].filter(([muid, { uid }]) => uid === tab.uid && !scene.refused.has(muid))
      if (known.length === 0) return
      const [muid, { peer, text }] = scene.random.pick(known)
      const to =
        'uid' in peer ? { receiver: peer.uid, receiverType: 'user' } : { receiver: peer.guid, receiverType: 'group' }
      await scene.ground.post('/messages', { ...to, data: { text }, muid }, { as: tab.uid })
    },
  ],
}

const deck = Object.entries(steps).flatMap(([name, [count]]) => Array.from({ length: count }, () => name))

export async function takeStep(scene: Scene): Promise<void> {
  const tab = scene.random.pick(scene.tabs)
  const name = scene.random.pick(deck)
  scene.steps.push(`${tab.name}: ${name}`)
  await steps[name]?.[1](scene, tab)
}
