// For the page that stands in until the demo is built. A refresh by a tag or a header would not load an address with a # again.
setTimeout(() => location.reload(), 500)
