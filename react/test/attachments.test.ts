import { createLiveClient } from '@parley/client'
import { MessageItem, type MessageProps, ParleyProvider, type ParleyProviderProps } from '@parley/react'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'

const client = createLiveClient({ url: 'http://localhost', authToken: 'none' })

/** A message with one picture, as it is drawn. */
const drawn = (url: string) => drawnWith({ attachments: [{ url, name: 'a', mimeType: 'image/png' }] })

/** A message that says this, as it is drawn. */
function drawnWith(data: object): string {
  const message = {
    ...{ id: '1', sender: 'alice', category: 'message', type: 'image', sentAt: 1 },
    data,
  } as unknown as MessageProps['message']
  const item = createElement(MessageItem, { message, isOwn: false, isContinued: false, actions: { react: () => {} } })
  return renderToStaticMarkup(createElement(ParleyProvider, { client } as ParleyProviderProps, item))
}

it.each([
  'https://files.example.com/a.png',
  'https:\\\\files.example.com\\a.png',
  'https:files.example.com/a.png',
  ' ht\ttps://files.example.com/a.png\n',
])('A picture at %j is shown by the address that moderation looks at', (url) => {
  expect(drawn(url)).toContain('<img src="https://files.example.com/a.png"')
})

it.each([
  'javascript:alert(1)',
  ' java\tscript:alert(1)',
  'data:text/html,a',
  '//files.example.com/a.png',
  'a.png',
  '',
])('Nothing is shown at %j, which is no address on the web', (url) => {
  expect(drawn(url)).not.toMatch(/href|src=/)
})

it.each([
  { attachments: 'x' },
  { attachments: null },
  { attachments: 5 },
  { attachments: { a: 1 } },
  { attachments: [null] },
  { attachments: ['x'] },
  { attachments: [{ url: 5 }] },
  { attachments: [{ url: 'https://files.example.com/a.png', name: { a: 1 }, mimeType: 5, size: {} }] },
])('A message that says $attachments of its files is drawn with its text', ({ attachments }) => {
  expect(drawnWith({ text: 'hello', attachments })).toContain('hello')
})

it('A message is drawn whose text and mentions are of another kind', () => {
  expect(drawnWith({ text: { a: 1 } })).toContain('parley-message')
  expect(drawnWith({ text: 'hello <@uid:bob>', mentions: { bob: null } })).toContain('@bob')
})
