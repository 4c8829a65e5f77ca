import { describe, expect, it } from 'vitest'
import { judgedOf } from '../../../src/chat/moderation/describe.ts'

const between = { sender: 'alice', kind: 'user', receiver: 'bob' } as const

describe('what is judged of a message', () => {
  /** Addresses of the pictures in a text message with one attachment. */
  const picturesAt = (url: unknown): string[] => {
    const data = { text: 'look', attachments: [{ url, mimeType: 'image/png' }] }
    return judgedOf({ ...between, category: 'message', type: 'text', data }).files.map((file) => file.url)
  }

  it.each([
    ['as usual', 'https://files.example.com/a.png'],
    ['with backslashes', 'https:\\\\files.example.com\\a.png'],
    ['with one slash', 'https:/files.example.com/a.png'],
    ['without a slash', 'https:files.example.com/a.png'],
    ['with blanks around it', ' \n https://files.example.com/a.png '],
    ['with tabs and ends of lines in it', 'ht\ttps:/\n/files.exam\rple.com/a.png'],
    ['in capitals', 'HTTPS://FILES.EXAMPLE.COM/a.png'],
    ['without its scheme', '//files.example.com/a.png'],
    ['without its scheme and with backslashes', '/\t\\files.example.com/a.png'],
  ])('are pictures by the address that a browser opens, which is written %s', (_, url) => {
    expect(picturesAt(url)).toEqual(['https://files.example.com/a.png'])
  })

  it('are pictures that stand in the address itself', () => {
    expect(picturesAt(' DATA:image/png;base64,iVBORw0KGgo=')).toEqual(['data:image/png;base64,iVBORw0KGgo='])
  })

  it.each([
    ['hangup'],
    ['/a.png'],
    ['a\\b.png'],
    ['javascript:alert(1)'],
    ['blob:https://files.example.com/1'],
    [''],
    [7],
  ])('are no pictures at %j, where nothing is shown of anybody else', (url) => {
    expect(picturesAt(url)).toEqual([])
  })

  it('is every text in what is the app’s own, but for what only the service can write', () => {
    const own = (text: string) => ({ '@injected': { text } })
    const data = {
      customData: { a: own('one'), ...own('two') },
      metadata: { b: own('three'), list: [own('four')], ...own('of a webhook') },
      interactiveData: own('five'),
      data: { metadata: own('six') },
    }
    const { custom } = judgedOf({ ...between, category: 'interactive', type: 'customInteractive', data })
    expect(custom.split('\n').sort()).toEqual(['five', 'four', 'one', 'six', 'three', 'two'])
  })
})
