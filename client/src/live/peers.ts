import type { Message } from '../contract.ts'
import type { Peer, PeerKey } from './interface.ts'

export function keyOf(peer: Peer): PeerKey {
  const { receiver, receiverType } = receiverOf(peer)
  return `${receiverType}:${receiver.toLowerCase()}`
}

export function peerOf(key: PeerKey): Peer {
  const id = key.slice(key.indexOf(':') + 1)
  return key.startsWith('user:') ? { uid: id } : { guid: id }
}

/** As requests and frames name them. */
export function receiverOf(peer: Peer): { receiver: string; receiverType: 'user' | 'group' } {
  return 'uid' in peer ? { receiver: peer.uid, receiverType: 'user' } : { receiver: peer.guid, receiverType: 'group' }
}

/** Where requests about the conversation go. */
export function pathOf(key: PeerKey): string {
  const { receiver, receiverType } = receiverOf(peerOf(key))
  return `/${receiverType}s/${encodeURIComponent(receiver)}`
}

/** The conversation that something belongs to, as this user sees it. @param me their uid */
export function keyFor(
  me: string | undefined,
  { sender, receiver, receiverType }: Pick<Message, 'sender' | 'receiver' | 'receiverType'>,
): PeerKey {
  return `${receiverType}:${receiverType === 'group' || sender === me ? receiver : sender}`
}

/** Confirmed messages are in the order of the service: by time, then by id. */
export interface Position {
  readonly sentAt: number
  readonly id: string
}

export function compare(a: Position, b: Position): number {
  return a.sentAt - b.sentAt || Number(a.id) - Number(b.id)
}
