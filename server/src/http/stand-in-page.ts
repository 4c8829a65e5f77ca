/** Loads the page again until it is built. A refresh by a tag or a header would not load an address with a # again. */
export const reloadScript = Buffer.from('setTimeout(() => location.reload(), 500)\n')

/** A page that stands in for one that is not built yet, or cannot be. */
export function standInPage(title: string, body: string, head = ''): Buffer {
  return Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="data:,">${head}
  </head>
  <body>
    <h1>${title}</h1>
    ${body}
  </body>
</html>
`)
}
