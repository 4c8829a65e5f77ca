/** Addresses of pages, below `/console`, encoded. Pages are loaded one by one, so none has to load another for its address. */

export function userAddress(appId: string, uid: string): string {
  return `/apps/${encodeURIComponent(appId)}/users/${encodeURIComponent(uid)}`
}

export function groupAddress(appId: string, guid: string): string {
  return `/apps/${encodeURIComponent(appId)}/groups/${encodeURIComponent(guid)}`
}

/** @param message the one that is shown first; else the newest */
export function conversationAddress(appId: string, conversationId: string, message?: string): string {
  const at = message === undefined ? '' : `?at=${encodeURIComponent(message)}`
  return `/apps/${encodeURIComponent(appId)}/conversations/${encodeURIComponent(conversationId)}${at}`
}
