/* By itself, since it is loaded where a certificate is made alone; of a package of CommonJS, import() gives no names once it is built in. */
export { generate } from 'selfsigned'
