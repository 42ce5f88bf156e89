import { catalogue } from '../../catalogue';
import type instance from '../../areas/instance';

export default catalogue<typeof instance>()({
});
